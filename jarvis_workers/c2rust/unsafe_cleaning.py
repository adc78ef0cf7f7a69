"""Remove the unsafe blocks of a crate that rustc does not need, and reduce the others to what needs them.

rustc's lint `unused_unsafe` names unneeded blocks, so that code which it did not compile, such as that of another
platform, stays as it is; blocks that contain `cfg` stay too. For the others, all blocks of a file are removed at once:
the errors name the unsafe operations. In unsafe functions the lint `unsafe_op_in_unsafe_fn` names them. Each change is
compiled; if it fails, the places of the errors, or bisection, tell the blocks at fault, which stay as they were.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from jarvis_workers.c2rust.bisection import find_culprits
from jarvis_workers.source.rust.rust_syntax import Patch, RustText, UnsafeBlock, apply_patches
from jarvis_workers.source.rust.unsafe_edits import (
    NeededBlock,
    RewrittenText,
    UnsafeOperation,
    blanked,
    rewrite,
    without_block,
)

UNUSED, IN_FUNCTIONS, NEEDED = "unused_unsafe", "unsafe_op_in_unsafe_fn", "E0133"
CONDITIONAL = re.compile(r"\bcfg(?:_attr|_if)?\b")
ROUNDS = 8

Texts = Mapping[str, str]
BlockPlace = tuple[str, UnsafeBlock]
PlaceT = TypeVar("PlaceT")


class RustDiagnostic(NamedTuple):
    """An error or warning of rustc in a file of the crate; lines and characters count from 1."""

    level: str
    code: str
    text: str
    file: str
    line: int
    column: int


class Compilation(NamedTuple):
    """Whether all targets of the crate compile, and the diagnostics."""

    passed: bool
    diagnostics: Sequence[RustDiagnostic]


class Compiler(Protocol):
    """Compiles the crate with the given texts instead of its own, without running it; `lints` always warn.

    Without `users`, only the library is compiled, or the programs if there is none.
    """

    def __call__(self, texts: Texts, *lints: str, users: bool = True) -> Compilation: ...


class CleanedFile(NamedTuple):
    """The text of a file that changed, and the numbers of blocks removed and comments added."""

    text: str
    removed: int
    annotated: int


class CleanedTexts(NamedTuple):
    """The files that changed, and a line per problem."""

    files: dict[str, CleanedFile]
    problems: tuple[str, ...] = ()


def clean_unsafe(texts: Texts, compile_crate: Compiler) -> CleanedTexts:
    """Return the texts of files without unneeded unsafe code."""
    now, removed = _without_unused(texts, compile_crate)
    files, problems = dict[str, CleanedFile](), list[str]()
    for file in sorted(texts):
        text, annotated, problem = _reduced(file, now, compile_crate)
        now[file] = text
        problems += [f"{file}: {problem}"] if problem else ()
        if text != texts[file]:
            files[file] = CleanedFile(text, removed[file], annotated)
    return CleanedTexts(files, tuple(problems))


def _without_unused(texts: Texts, compile_crate: Compiler) -> tuple[dict[str, str], Counter[str]]:
    """Return the texts without the blocks that the lint names, and their number by file."""
    now, removed = dict(texts), Counter[str]()
    for _ in range(ROUNDS):
        unused = _unused(now, compile_crate(now, UNUSED).diagnostics)
        chosen = _removable(now, unused, compile_crate)
        now |= _without(now, chosen)
        removed.update(file for file, _ in chosen)
        if not chosen or len(chosen) < len(unused):
            break
    return now, removed


def _removable(texts: Texts, blocks: Sequence[BlockPlace], compile_crate: Compiler) -> list[BlockPlace]:
    return removable_together(blocks, lambda own: compile_crate({**texts, **_without(texts, own)}).passed)


def _unused(texts: Texts, diagnostics: Iterable[RustDiagnostic]) -> list[BlockPlace]:
    found = set[BlockPlace]()
    named = [one for one in diagnostics if one.code == UNUSED and one.file in texts]
    for file in {one.file for one in named}:
        source = RustText(texts[file])
        offsets = {source.offset(one.line, one.column) for one in named if one.file == file}
        found.update((file, block) for block in _eligible(source) if block.start in offsets)
    return sorted(found)


def _eligible(source: RustText) -> Iterator[UnsafeBlock]:
    """Yield the blocks whose code rustc sees in full."""
    return (block for block in source.blocks if not CONDITIONAL.search(source.code, block.start, block.end))


def _without(texts: Texts, blocks: Sequence[BlockPlace]) -> dict[str, str]:
    """Return the texts of files without some of their blocks; a block in a removed one waits for the next round."""
    found = dict[str, str]()
    for file in {file for file, _ in blocks}:
        source, end, patches = RustText(texts[file]), 0, list[Patch]()
        for block in sorted(block for name, block in blocks if name == file):
            if block.start >= end:
                patches += without_block(source, block)
                end = block.end
        found[file] = apply_patches(source.text, patches)
    return found


def removable_together(places: Sequence[PlaceT], passes: Callable[[list[PlaceT]], bool]) -> list[PlaceT]:
    """Return the places that can be changed together."""
    by_name = {str(number): place for number, place in enumerate(places)}
    culprits = find_culprits(list(by_name), lambda names: passes([by_name[name] for name in names]))
    return [place for name, place in by_name.items() if name not in culprits]


def _reduced(file: str, texts: Texts, compile_crate: Compiler) -> tuple[str, int, str]:
    """Return the text of a file with smaller blocks and comments, the number of comments, and the problem if any."""
    text = texts[file]
    source = RustText(text)
    blocks = list(_eligible(source))
    if not blocks:
        return text, 0, ""
    lints = (IN_FUNCTIONS,) if any(source.in_unsafe_function(block) for block in blocks) else ()
    probe = compile_crate({**texts, file: blanked(source, blocks)}, *lints)
    if any(one.level == "error" and one.code != NEEDED for one in probe.diagnostics):
        return text, 0, "rustc does not say which unsafe blocks are needed"
    needed, outside = _needed(source, blocks, [one for one in probe.diagnostics if one.file == file])
    trial = _NarrowingTrial(file, source, needed, outside, lambda text: compile_crate({**texts, file: text}, *lints))
    if trial.rewritten().text == text:
        return text, 0, ""
    fixed = trial.fixed()
    if not trial.passes(fixed):
        return text, 0, "the unsafe blocks cannot be annotated"
    final = trial.rewritten(fixed)
    return final.text, final.annotated, ""


class _NarrowingTrial:
    """A file whose needed blocks become smaller, where it compiles; `outside` unsafe operations are in no block."""

    def __init__(
        self,
        file: str,
        source: RustText,
        needed: Sequence[NeededBlock],
        outside: int,
        compile_text: Callable[[str], Compilation],
    ) -> None:
        self._file, self._source, self._needed, self._outside = file, source, needed, outside
        self._compile = compile_text
        self._last: tuple[str, Compilation] | None = None

    def rewritten(self, fixed: Collection[UnsafeBlock] = ()) -> RewrittenText:
        return rewrite(self._source, self._needed, fixed)

    def passes(self, fixed: Collection[UnsafeBlock]) -> bool:
        result = self._result(self.rewritten(fixed).text)
        uncovered = {(one.line, one.column) for one in result.diagnostics if self._is_here(one) and one.code == NEEDED}
        return result.passed and len(uncovered) <= self._outside

    def fixed(self) -> set[UnsafeBlock]:
        """Return the blocks that must not become smaller.

        Most are the only ones in a function with an error.  Bisection finds the others.
        """
        narrowed = set(self.rewritten().narrowed)
        suspects = self._suspects(narrowed)
        if not self.passes(suspects):
            return narrowed - set(removable_together(sorted(narrowed), lambda own: self.passes(narrowed - set(own))))
        count = Counter(map(self._function_of, narrowed))
        doubtful = sorted(block for block in suspects if count[self._function_of(block)] > 1)
        return suspects - set(removable_together(doubtful, lambda own: self.passes(suspects - set(own))))

    def _suspects(self, narrowed: Collection[UnsafeBlock]) -> set[UnsafeBlock]:
        """Return the blocks in functions with errors; rustc names some errors only when there are no others."""
        suspects = set[UnsafeBlock]()
        for _ in range(ROUNDS):
            text = RustText(self.rewritten(suspects).text)
            errors = [one for one in self._result(text.text).diagnostics if self._is_here(one) and one.level == "error"]
            if len(text.bodies) != len(self._source.bodies):
                break
            functions = {text.function_of(text.offset(one.line, one.column)) for one in errors} - {-1}
            found = {block for block in narrowed if self._function_of(block) in functions}
            if found <= suspects:
                break
            suspects |= found
        return suspects

    def _function_of(self, block: UnsafeBlock) -> int:
        return self._source.function_of(block.start)

    def _is_here(self, one: RustDiagnostic) -> bool:
        return one.file == self._file

    def _result(self, text: str) -> Compilation:
        """Compile a text, unless it is the one that was compiled last."""
        if self._last is None or self._last[0] != text:
            self._last = text, self._compile(text)
        return self._last[1]


def _needed(
    source: RustText, blocks: Sequence[UnsafeBlock], diagnostics: Iterable[RustDiagnostic]
) -> tuple[list[NeededBlock], int]:
    """Return the blocks with the operations that need them, and the number of operations outside of them."""
    places = {source.offset(one.line, one.column): one.text for one in diagnostics if one.code == NEEDED}
    operations = dict[UnsafeBlock, list[UnsafeOperation]]()
    for offset, message in sorted(places.items()):
        around = [block for block in blocks if block.start <= offset < block.end]
        if around:
            operations.setdefault(around[-1], []).append(UnsafeOperation(offset, message))
    found = [NeededBlock(block, tuple(own)) for block, own in operations.items()]
    return sorted(found), len(places) - sum(len(one.operations) for one in found)
