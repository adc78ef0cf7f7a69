"""Optimize a crate conservatively: unsafe code, duplicates, visibility, documentation.

Each pass returns new texts, which the caller tests before it runs the next (seed 001, "optimizer").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from jarvis_workers.c2rust.unsafe_cleaning import Compiler, Texts, clean_unsafe
from jarvis_workers.c2rust.visibility import reduce_visibility
from jarvis_workers.source.rust.function_comments import add_documentation, tag_duplicates


class OptimizeReport(BaseModel):
    """The content of optimize_report.json; `cargo_checks` are runs of the tests, `errors` are lines.

    A model has changed `files_improved`.
    """

    model_config = ConfigDict(frozen=True)
    files_scanned: int = 0
    unsafe_removed: int = 0
    unsafe_annotated: int = 0
    duplicates_tagged: int = 0
    visibility_downgraded: int = 0
    docs_added: int = 0
    cargo_checks: int = 0
    errors: tuple[str, ...] = ()
    files_improved: tuple[str, ...] = ()

    def __add__(self, other: "OptimizeReport") -> "OptimizeReport":
        return OptimizeReport(**{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields})


class PassResult(NamedTuple):
    """The texts of the files that a pass changed, with its counts for each file, and its problems by file."""

    texts: Mapping[str, str]
    counts: Mapping[str, OptimizeReport]
    problems: Sequence[str] = ()

    def report(self, files: Sequence[str]) -> OptimizeReport:
        """Return the counts of some of the files, and all problems."""
        return sum((self.counts[file] for file in files), OptimizeReport(errors=tuple(self.problems)))


def _unsafe(texts: Texts, compile_crate: Compiler) -> PassResult:
    cleaned = clean_unsafe(texts, compile_crate)
    counts = {
        file: OptimizeReport(unsafe_removed=one.removed, unsafe_annotated=one.annotated)
        for file, one in cleaned.files.items()
    }
    return PassResult({file: one.text for file, one in cleaned.files.items()}, counts, cleaned.problems)


def _structure(texts: Texts, _: Compiler) -> PassResult:
    found = tag_duplicates(texts)
    counts = {file: OptimizeReport(duplicates_tagged=one.number) for file, one in found.items()}
    return PassResult({file: one.text for file, one in found.items()}, counts)


def _visibility(texts: Texts, compile_crate: Compiler) -> PassResult:
    found = reduce_visibility(texts, compile_crate)
    counts = {file: OptimizeReport(visibility_downgraded=count) for file, (_, count) in found.items()}
    return PassResult({file: text for file, (text, _) in found.items()}, counts)


def _documentation(texts: Texts, _: Compiler) -> PassResult:
    found = add_documentation(texts)
    counts = {file: OptimizeReport(docs_added=one.number) for file, one in found.items()}
    return PassResult({file: one.text for file, one in found.items()}, counts)


# In the order in which they run.
PASSES: Mapping[str, Callable[[Texts, Compiler], PassResult]] = {
    "unsafe": _unsafe,
    "structure": _structure,
    "visibility": _visibility,
    "doc": _documentation,
}
