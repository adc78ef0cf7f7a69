"""The options of runs that replace functions with libraries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryPolicy
from jarvis_workers.conversations.options import ConversationOptions


@dataclass(frozen=True, kw_only=True)
class ReplaceOptions(ConversationOptions):
    """Which functions to replace by which libraries.

    `symbols` is the blob of symbols.jsonl. `roots` are names of functions, empty for those that no other function uses;
    with names, functions that they do not reach are pruned. `declared` are names of headers: those of functions of the
    project are roots as well. The model considers `library` first; it and the `allowed`
    crates may be used, the `disabled` ones may not. `entries` are names of functions that are never replaced, in
    addition to `main`. At most `max_functions` functions are judged, one after the other. `verdicts` are those of an
    earlier, unfinished run.
    """

    symbols: str = ""
    roots: Sequence[str] = field(default_factory=list)
    declared: Sequence[str] = field(default_factory=list)
    library: str | None = None
    allowed: Sequence[str] = field(default_factory=list)
    disabled: Sequence[str] = field(default_factory=list)
    entries: Sequence[str] = field(default_factory=list)
    max_functions: int | None = None
    verdicts: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def policy(self) -> LibraryPolicy:
        """The crates that may be used, and those that may not."""
        return LibraryPolicy((*([self.library] if self.library else ()), *self.allowed), tuple(self.disabled))

    @property
    def earlier(self) -> dict[int, FunctionVerdict]:
        """The earlier verdicts by function."""
        found = map(FunctionVerdict.model_validate, self.verdicts)
        return {one.id: one for one in found}
