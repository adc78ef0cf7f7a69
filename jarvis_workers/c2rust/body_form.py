"""The form of a translated body: the gate that refuses answers which are more than the function that was asked for.

It reads text, not meaning: what passes runs in the sandbox only, and is compared with C.
"""

import re
from collections.abc import Collection, Iterator
from itertools import chain

from jarvis_workers.c2rust.crate_edits import form_problem, same_signature
from jarvis_workers.c2rust.vendored_crates import path_roots
from jarvis_workers.source.rust.rust_items import read_items
from jarvis_workers.source.rust.rust_syntax import masked

BODY_MAX, USE_MAX = 100_000, 300
ATTRIBUTE = re.compile(r"#\s*+(!?)\s*+\[\s*+(?:unsafe\s*+\(\s*+)?([\w:]+)")
ATTRIBUTES = frozenset(("allow", "cold", "doc", "expect", "inline", "must_use", "rustfmt::skip"))
# Modules of the standard library that reach the operating system or the process, or tell one crate from another.
MODULES = r"(?:any|arch|backtrace|env|fs|io|net|os|panic|path|process|thread|time)"
WORD = re.compile(r"\b[A-Za-z_]\w*")
USE = re.compile(r"\buse\b")
# A renamed item would hide its name from this gate.
RENAMED = re.compile(rf"\bas\b|\b{MODULES}\b")
ESCAPE = re.compile(r"\\(?:x([0-7][0-9a-fA-F])|u\{([0-9a-fA-F_]{1,12})\})")
# Lifetimes, and character literals without their contents.
QUOTES = re.compile(r"'(?:[A-Za-z_]\w*+(?!')|\s*+')")
RAW_NAME = re.compile(r"\br#(?=\w)")
# C functions and variables that observe or end the process: allowed only if the C function has them too.
PROCESS = re.compile(
    r"(?<![.'\w])_*(?:secure_getenv|getenv|environ|dlv?sym|dlm?open|dladdr1?|dl_iterate_phdr|getauxval|gett?p?id|getppid"
    r"|syscall|ptrace|backtrace|readlink(?:at)?|open(?:at)?(?:64)?|fd?open(?:64)?|opendir|mmap(?:64)?|mprotect|sigaction"
    r"|fork|vfork|exec[lv]\w*|fexecve|system|popen|posix_spawnp?|[Ee]xit|quick_exit|at_?exit|abort|raise|kill|pthread_exit"
    r"|longjmp|siglongjmp)\b(?!\s*+:)"
)
# Not the lifetime.
STATIC = re.compile(r"(?<!')\bstatic\s++(mut\b)?+")
CHANGING = re.compile(r"\b(?:Atomic\w++|\w*Cell|\w*Lock|Mutex|Once|Condvar)\b|\bthread_local\b")
# Symbols of slots, and the variables of their runtime.
OWN_NAMES = re.compile(r"\bjv[a-z]_\w|JARVIS_")
UNSAFE_FUNCTION = re.compile(r"\bunsafe\s++(?:extern\s*+\"[^\"]*+\"\s*+)?fn\s++\w")
FORBIDDEN = (
    # Functions with the C calling convention are allowed: callbacks of C functions need them.
    (re.compile(r"\bextern\b(?!\s*(?:\"[^\"]*\"\s*)?fn\b)"), "use the declarations of the crate"),
    (
        re.compile(
            r"\b(?:include(?:_str|_bytes)?|env|option_env|asm|global_asm|naked_asm|concat|concat_bytes|concat_idents"
            r"|e?print(?:ln)?|dbg|cfg|module_path|file|line|column)\s*!(?!=)"
        ),
        "such macros are not plain code",
    ),
    (re.compile(r"\bmacro_rules\b|\bmod\b"), "define functions, types and constants only"),
    (re.compile(r"(?<![:(,<>&+|\s])\s*+\bimpl\b"), "implementations affect other functions"),
    (
        re.compile(r"\b(?:self|super)\b|\bcrate\s*+::\s*+(?!c\b|types\b)\w+"),
        "use crate::c and crate::types only",
    ),
    (re.compile(rf"\b(?:std|core|alloc)\s*+::\s*+{MODULES}\b"), "it is not a matter of this function"),
)


def body_problem(text: str, planned: str, name: str, original: str = "", foreign: Collection[str] = ()) -> str:
    """Return why a text is not the function `name` with the signature of `planned`, or "" if it is.

    `original` is the code of the C function and of its mechanical translation, without comments; `foreign` are the
    names of crates that do not replace the function.
    """
    if len(text) > BODY_MAX:
        return f"it is longer than {BODY_MAX:,} characters"
    code = RAW_NAME.sub("  ", masked(text))
    used = (f"it uses the crate {one}, which does not replace it" for one in path_roots(code) if one in foreign)
    problems = chain(_problems(text, code, planned, name), _process(code, original), used)
    return next(problems, "")


def _problems(text: str, code: str, planned: str, name: str) -> Iterator[str]:
    """Yield what a function must not contain; `code` is its text without comments and literals."""
    if any(not one.isascii() and code[place] != " " for place, one in enumerate(text)):
        yield "it has a character outside of ASCII in its code"
    items = read_items(text)
    if [(one.kind, one.name) for one in items] != [("fn", name)]:
        others = ", ".join(f"{one.kind} {one.name}".strip()[:60] for one in items) or "nothing"
        yield f"it must be the function `{name}` and nothing beside it; it has: {others[:300]}"
    if "'" in QUOTES.sub("", code):
        yield "it has a quotation mark that is neither a lifetime nor a character"
    if OWN_NAMES.search(text) or OWN_NAMES.search(ESCAPE.sub(_plain, text)):
        yield "it uses a name that is reserved for the comparison with C"
    attributes = (one for one in ATTRIBUTE.finditer(code) if one[1] or one[2] not in ATTRIBUTES)
    yield from (f"the attribute {one[2]} is not allowed" for one in attributes)
    yield from _imports(code)
    found = ((pattern.search(code), why) for pattern, why in FORBIDDEN)
    yield from (f"`{' '.join(match[0][-60:].split())}` is not allowed: {why}" for match, why in found if match)
    if UNSAFE_FUNCTION.search(code, code.find("{") + 1):
        yield "it has a nested unsafe function; nested functions must be safe"
    yield from filter(None, [form_problem(text)])
    if not same_signature(planned, text, name):
        yield f"its signature must be `{planned}`"


def _process(code: str, original: str) -> Iterator[str]:
    """Yield what lets a function behave differently when it is tested, unless the C function has it too."""
    words = frozenset(WORD.findall(original))
    for match in PROCESS.finditer(code):
        if match[0] not in words:
            yield f"`{match[0]}` is not allowed: the C function does not use it"
    statics = list(STATIC.finditer(code))
    if (any(one[1] for one in statics) or (statics and CHANGING.search(code))) and "static" not in words:
        yield "it keeps state between calls, which the C function does not"


def _imports(code: str) -> Iterator[str]:
    for match in USE.finditer(code):
        path, end, _ = code[match.end() : match.end() + USE_MAX].partition(";")
        if not end:
            yield f"a use declaration is longer than {USE_MAX} characters"
        elif found := RENAMED.search(path):
            yield f"`use{path}` is not allowed: it has `{found[0]}`"


def _plain(match: re.Match[str]) -> str:
    number = int((match[1] or match[2]).replace("_", "") or "0", 16)
    return chr(number) if number < 0x80 else ""
