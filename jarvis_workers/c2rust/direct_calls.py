"""Calls between functions that a model translated: directly, or by the wrapper of a function that is not translated."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.source.rust.rust_items import RustItem, read_items
from jarvis_workers.source.rust.rust_syntax import masked

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LinkedItems:
    """The items of a crate, where called functions are visible in all modules, and the wrappers that they need."""

    items: tuple[CrateItem, ...]
    wrappers: tuple[str, ...]


def link_calls(items: Sequence[CrateItem], wrappers: Mapping[str, str]) -> LinkedItems:
    """Return the items with direct calls; `wrappers` are those of all functions, by name."""
    words = {item.slot: wrappers.keys() & set(WORD.findall(masked(item.text))) for item in items} if wrappers else {}
    defined = {one.name: item.slot for item in items if wrappers for one in _private(item.text) if one.name in wrappers}
    called = {name for slot, names in words.items() for name in names if defined.get(name) != slot}
    visible = (item._replace(text=_opened(item.text, called)) if called else item for item in items)
    return LinkedItems(tuple(visible), tuple(wrappers[name] for name in sorted(called - defined.keys())))


def _private(text: str) -> Iterator[RustItem]:
    """Yield the functions that only their module sees."""
    return (one for one in read_items(text) if one.kind == "fn" and one.head.startswith(("fn ", "unsafe fn ")))


def _opened(text: str, names: Collection[str]) -> str:
    """Return the text with some functions visible in the whole crate."""
    for one in _private(text):
        if one.name in names:
            text = text.replace(one.text, f"{one.text[: one.lead]}pub(crate) {one.definition}", 1)
    return text
