"""Calls between functions that a model translated: directly, or by the wrapper of a function that is not translated."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.source.rust.rust_items import masked

WORD = re.compile(r"\w+")
FUNCTION = re.compile(r"^(?=(?:unsafe )?fn (\w+)\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LinkedItems:
    """The items of a crate, where called functions are visible in all modules, and the wrappers that they need."""

    items: tuple[CrateItem, ...]
    wrappers: tuple[str, ...]


def link_calls(items: Sequence[CrateItem], wrappers: Mapping[str, str]) -> LinkedItems:
    """Return the items with direct calls; `wrappers` are those of all functions, by name."""
    words = {item.slot: wrappers.keys() & set(WORD.findall(masked(item.text))) for item in items} if wrappers else {}
    defined = {name: item.slot for item in items for name in FUNCTION.findall(item.text) if name in wrappers}
    called = {name for slot, names in words.items() for name in names if defined.get(name) != slot}

    def opened(match: re.Match[str]) -> str:
        return "pub(crate) " if match[1] in called else ""

    visible = (item._replace(text=FUNCTION.sub(opened, item.text)) if called else item for item in items)
    return LinkedItems(tuple(visible), tuple(wrappers[name] for name in sorted(called - defined.keys())))
