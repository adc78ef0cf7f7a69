"""What a file is by its path: its language, whether it is a header, whether it is test code."""

from collections.abc import Mapping

from jarvis_workers.source.lazy_regex import lazy

EXTENSIONS: Mapping[bytes, str] = {
    **dict.fromkeys(b"c cpp h hpp cc cxx c++ cp C hh hxx inl ipp tpp tcc txx icc".split(), "c/cpp"),
    # What the preprocessor wrote; Objective-C++, modules of C++, CUDA, HIP, Arduino.
    **dict.fromkeys(b"i ii mi mii hp h++ mm cppm ccm cxxm c++m ixx cu cuh hip ino".split(), "c/cpp"),
    **dict.fromkeys((b"l", b"ll"), "lex"),
    **dict.fromkeys((b"y", b"yy"), "yacc"),
    b"rs": "rust",
}
HEADERS = frozenset(b"h hpp hh hxx hp h++ inl ipp tpp tcc txx icc cuh".split())
# Suffixes of other code that compilers take: assembler, bitcode, OpenCL, and Objective-C or MATLAB.
OTHER_CODE = frozenset(b"s sx bc cl m".split())
OBJECTIVE_C = lazy(
    rb"(?m)^[ \t]*(?:#[ \t]*(?:import|include|define|if)|@(?:interface|implementation|protocol|class|import))\b"
)
TESTS = lazy(
    rb"(?:^|/)(?:tests?|testing|testsuite|unittests?|benches|benchmarks?|examples?|samples?|demos?|docs?|documentation"
    rb"|t|regress(?:ion)?s?|fuzz(?:ing|ers?)?(?:[-_][^/]*)?|mocks?)/"
    rb"|(?:^|/)(?:(?:test|fuzz)[_-][^/]*|[^/]*[_-](?:test|tests|unittest|fuzz|fuzzer)|tests?)\.[^./]+\Z"
)


def language_of(name: bytes, extensions: Mapping[bytes, str] | None = None) -> str | None:
    """Return "c/cpp", "lex", "yacc" or "rust" by the suffix (without its dot, as in EXTENSIONS), or None."""
    suffixes = EXTENSIONS if extensions is None else extensions
    suffix = _suffix(name)
    return suffixes.get(suffix) or suffixes.get(suffix.lower())


def without_template(name: bytes) -> bytes:
    """Return the name of the file that a build makes from a template: `zconf.h` from `zconf.h.in`."""
    return name.removesuffix(b".in")


def is_other_code(name: bytes) -> bool:
    """Return whether a compiler takes a file for code by a suffix that does not make it a source."""
    return _suffix(name).lower() in OTHER_CODE


def is_header(name: bytes) -> bool:
    return _suffix(name).lower() in HEADERS


def is_test(path: bytes) -> bool:
    """Return whether a path is test code, by its directory or file name."""
    return TESTS.search(path) is not None


def _suffix(name: bytes) -> bytes:
    stem, _, suffix = without_template(name.rpartition(b"/")[2]).rpartition(b".")
    return suffix if stem else b""
