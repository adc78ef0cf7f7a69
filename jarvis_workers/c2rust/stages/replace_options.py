"""The options of runs that replace functions with libraries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.option import Option, listed

FUNCTIONS, LIBRARIES = "Functions", "Libraries"


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
    roots: Annotated[
        Sequence[str],
        Option(
            "--root-list-syms",
            "Only these functions; repeatable, or with commas.",
            FUNCTIONS,
            metavar="NAMES",
            read=listed,
        ),
    ] = field(default_factory=list)
    declared: Sequence[str] = field(default_factory=list)
    library: Annotated[
        str | None, Option("--library", "Crate to consider first; it is allowed.", LIBRARIES, metavar="NAME")
    ] = None
    allowed: Sequence[str] = field(default_factory=list)
    disabled: Annotated[
        Sequence[str],
        Option(
            "--disabled-libs",
            "Crates not to use; repeatable, or with commas.",
            LIBRARIES,
            metavar="NAMES",
            read=listed,
        ),
    ] = field(default_factory=list)
    entries: Sequence[str] = field(default_factory=list)
    max_functions: Annotated[
        int | None,
        Option(
            "--max-funcs",
            "Judge at most NUMBER functions, one at a time.",
            FUNCTIONS,
            metavar="NUMBER",
            at_least=1,
        ),
    ] = None
    verdicts: Sequence[Mapping[str, Any]] = field(default_factory=list)
