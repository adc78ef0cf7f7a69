"""Find the user's edits of a generated crate, function by function: the gates `form` and `signature`.

The text of a body is the same in the crate and on a bench, except for the attribute that exports it.  Everything other
than the functions of the conversion must be unchanged: an edit elsewhere is a problem of its file, or is not checked.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.vendored_crates import path_roots
from jarvis_workers.source.rust.rust_items import EXPORT, RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import masked, rust_text

UNFINISHED = re.compile(r"\b(todo|unimplemented)\s*!")
GLOB = re.compile(r"\buse\b[^;]*\*")
PARAMETER_NAME = re.compile(r"\b(?:mut\s+)?(?:r#)?\w+\s*:(?!:)")
# Written by cargo itself.
BUILT = ("Cargo.lock",)


class FunctionEdit(NamedTuple):
    """A function whose text has changed: its slot, file and line, the new text for a bench, and the original text."""

    slot: str
    name: str
    file: str
    line: int
    text: str
    before: str

    def gates(self) -> tuple[GateOutcome, ...]:
        """Return the outcomes of the gates `form` and `signature`."""
        problem = "it is missing from its file" if not self.text else form_problem(self.text)
        form = GateOutcome("form", not problem, problem)
        if problem:
            return (form,)
        planned = signature(self.before, self.name)
        wrong = "" if same_signature(planned, self.text, self.name) else f"it should be `{planned}`"
        return form, GateOutcome("signature", not wrong, wrong)


class CrateEdits(NamedTuple):
    """The edits of a crate.

    `problems` are edits outside of functions that a gate refuses, `unchecked` are files that no gate checks; each is
    one line.
    """

    functions: tuple[FunctionEdit, ...]
    unchanged: int
    problems: tuple[str, ...]
    unchecked: tuple[str, ...]


def read_edits(before: Mapping[str, bytes], now: Mapping[str, bytes], bodies: Sequence[CrateItem]) -> CrateEdits:
    """Compare the files that a conversion wrote with the current files of the crate; `bodies` are its functions."""
    functions, problems = list[FunctionEdit](), list[str]()
    modules = {f"src/{body.module}.rs" for body in bodies}
    for file in sorted(modules):
        if before.get(file) != now.get(file):
            own = [body for body in bodies if f"src/{body.module}.rs" == file]
            edits, wrong = _module(file, _text(before, file), _text(now, file), own)
            functions += edits
            problems += wrong
    other = sorted((before.keys() | now.keys()) - modules - set(BUILT))
    unchecked = tuple(f"{file}: {_change(before, now, file)}" for file in other if before.get(file) != now.get(file))
    return CrateEdits(tuple(functions), len(bodies) - len(functions), tuple(problems), unchecked)


def _text(files: Mapping[str, bytes], file: str) -> str:
    return files.get(file, b"").decode(errors="replace")


def _change(before: Mapping[str, bytes], now: Mapping[str, bytes], file: str) -> str:
    return "new" if file not in before else "removed" if file not in now else "edited"


def _module(
    file: str, before: str, now: str, bodies: Sequence[CrateItem]
) -> tuple[Iterator[FunctionEdit], Iterator[str]]:
    """Return the edited functions of a file, and the changes outside of functions."""
    owners = {(item.kind, item.name): body.slot for body in bodies for item in read_items(body.text)}
    old, new = list(read_items(before)), list(read_items(now))
    return _functions(file, old, new, bodies, owners), _beside(file, old, new, owners)


def _functions(
    file: str,
    old: Sequence[RustItem],
    new: Sequence[RustItem],
    bodies: Sequence[CrateItem],
    owners: Mapping[tuple[str, str], str],
) -> Iterator[FunctionEdit]:
    for body in bodies:
        was, is_now = ([one for one in items if owners.get(one[:2]) == body.slot] for items in (old, new))
        if [one.text for one in was] != [one.text for one in is_now]:
            line = next((one.line for one in is_now if one.kind == "fn"), 1)
            texts = (EXPORT.sub("", "\n\n".join(one.text for one in items)) for items in (is_now, was))
            yield FunctionEdit(body.slot, body.name, file, line, *texts)


def _beside(
    file: str, old: Sequence[RustItem], new: Sequence[RustItem], owners: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    texts, was, left = {one.text for one in old}, {one[:2] for one in old}, {one[:2] for one in new}
    for one in new:
        if one[:2] not in owners and one.text not in texts:
            is_edited = one.kind != "use" and one[:2] in was
            what = "changed, but not a function" if is_edited else "not part of the crate; put it inside a function"
            yield f"{file}:{one.line}: form: `{_shown(one)}`: {what}"
    for one in old:
        if one[:2] not in owners and one[:2] not in left:
            yield f"{file}: form: `{_shown(one)}` is missing"
    names = [one.name for one in new if one.kind == "fn"]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    yield from (f"{file}: form: `fn {name}` is defined twice" for name in twice)


def _shown(item: RustItem) -> str:
    return f"{item.kind} {item.name}" if item.name else item.text.split("\n", 1)[0][:60]


def form_problem(text: str) -> str:
    """Return why the gate `form` refuses the text of a function, or "" if it accepts it."""
    code = masked(text)
    if found := UNFINISHED.search(code):
        return f"it contains {found[1]}!"
    if GLOB.search(code):
        return "it has a glob import; import each name instead"
    lines = text.split("\n")
    for block in rust_text(text).blocks:
        number = code.count("\n", 0, block.start)
        if not any("SAFETY" in line for line in lines[max(0, number - 3) : number + 2]):
            return f"the unsafe block on line {number + 1} has no // SAFETY: comment"
    return ""


def signature(text: str, name: str) -> str:
    """Return the signature of a function with white space normalized, or "" if the text does not define it."""
    for item in read_items(text):
        if (item.kind, item.name) == ("fn", name):
            return " ".join(item.head.split())
    return ""


def same_signature(planned: str, text: str, name: str) -> bool:
    """Return whether a text defines a function with a signature, which may differ in the names of parameters."""
    return _tokens(masked(planned)) == _tokens(signature(masked(text), name))


def _tokens(head: str) -> str:
    """Return a signature without the names of its parameters, for comparison."""
    tokens = " ".join(re.findall(r"\w+|\S", PARAMETER_NAME.sub("", head))).replace(", )", ")")
    return tokens.removesuffix(" - > ( )")


# The form of a translated body: the gate that refuses answers which are more than the function that was asked for.

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
