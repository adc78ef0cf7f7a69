"""The reserved words and standard types of C, C++ and Rust, which identify neither a place nor a definition."""

from jarvis_workers.source.grammar_files import GRAMMARS

WORDS_OF_C = """
alignas alignof auto bool break case char class const constexpr continue decltype default define defined delete do
double elif else endif enum explicit extern false float for goto if ifdef ifndef include inline int long mutable
namespace new noexcept nullptr operator override private protected public register restrict return short signed
sizeof static std struct switch template throw true typedef typename undef union unsigned using virtual void volatile
while NULL size_t ssize_t int8_t int16_t int32_t int64_t intptr_t uint8_t uint16_t uint32_t uint64_t uintptr_t
"""
WORDS_OF_RUST = """
as async await bool break char const continue crate dyn else enum extern false fn for if impl in let loop match
mod move mut pub ref return self Self static str struct super trait true type unsafe use where while None Ok
Some Err Option Result String Vec i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64
"""
KEYWORDS = {
    **dict.fromkeys(("c/cpp", *GRAMMARS), frozenset(WORDS_OF_C.split())),
    "rust": frozenset(WORDS_OF_RUST.split()),
}
KEYWORD_BYTES = {language: frozenset(map(str.encode, words)) for language, words in KEYWORDS.items()}
