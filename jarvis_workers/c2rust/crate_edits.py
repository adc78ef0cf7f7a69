"""Find the user's edits of a generated crate, function by function: the gates `form` and `signature`.

The text of a body is the same in the crate and on a bench, except for the attribute that exports it.  Everything other
than the functions of the conversion must be unchanged: an edit elsewhere is a problem of its file, or is not checked.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.c2rust.conversion import GateOutcome
from jarvis_workers.c2rust.crate import CrateItem
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
