"""Which functions of a project libraries replace, and which functions only these need.

A function that only replaced ones need is left out of a crate if all of them call their libraries in the end.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.function_uses import UseGraph
from jarvis_workers.c2rust.library_replacement import STANDARD, LibraryChoice, canonical
from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.paths import listing
from jarvis_workers.source.rust.rust_syntax import masked

NAMES_SHOWN = 5
WORD = re.compile(r"\w+")


class LibraryPlan(BaseModel):
    """The libraries of replaced functions, and the replaced functions that need each pruned one, by key.

    No model is asked about pruned functions, nor about the functions `aside`, which no root needs; these stay.
    """

    model_config = ConfigDict(frozen=True)

    replaced: Mapping[str, LibraryChoice] = Field(default_factory=dict)
    pruned: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    aside: frozenset[str] = frozenset()

    def without(self, keys: Collection[str]) -> "LibraryPlan":
        """Return the plan in which some functions are not replaced; what they need is not pruned."""
        replaced = {key: one for key, one in self.replaced.items() if key not in keys}
        pruned = {key: roots for key, roots in self.pruned.items() if not set(roots).intersection(keys)}
        return self.model_copy(update={"replaced": replaced, "pruned": pruned})

    def allowed(self, crates: Iterable[str]) -> tuple["LibraryPlan", list[str]]:
        """Return the plan without replacements by other crates than these and std, and the names of the others."""
        names = {canonical(name) for name in (*STANDARD, *crates)}

        def others(choice: LibraryChoice) -> list[str]:
            return [name for name in choice.libraries if canonical(name) not in names]

        wrong = {key: some for key, one in self.replaced.items() if (some := others(one))}
        return self.without(wrong), sorted({name for some in wrong.values() for name in some})


def library_plan(
    graph: SymbolGraph, uses: UseGraph, choices: Mapping[int, LibraryChoice], pruned: Iterable[int]
) -> LibraryPlan:
    """Return the plan for a graph that still has all functions; `choices` and `pruned` are by id."""
    keys, gone = {one.id: one.key for one in graph.symbols}, set(pruned)
    reached = {number: frozenset(uses.reached([number])) for number in sorted(choices)}
    alone = gone & frozenset[int]().union(*reached.values())
    alone -= set(uses.reached((number for number in uses.uses if number not in alone), choices))
    return LibraryPlan(
        replaced={keys[number]: choice for number, choice in sorted(choices.items())},
        pruned={keys[one]: tuple(keys[root] for root, some in reached.items() if one in some) for one in sorted(alone)},
        aside=frozenset(keys[number] for number in gone - alone),
    )


def plan_of_files(raw: SymbolGraph, uses: UseGraph, pruned: SymbolGraph) -> LibraryPlan:
    """Return the plan that two symbol files state: all functions, and those that remain, with their libraries."""
    numbers = {one.key: one.id for one in raw.symbols if one.category == "function" and one.key}
    left = {one.key for one in pruned.symbols}
    choices = {numbers[one.key]: one.replacement for one in pruned.symbols if one.replacement and one.key in numbers}
    return library_plan(raw, uses, choices, (number for key, number in numbers.items() if key not in left))


def with_libraries(
    functions: Sequence[FunctionResult],
    plan: LibraryPlan,
    key_of: Callable[[str], str],
    texts: Mapping[str, str],
    fixed: Collection[str] = (),
) -> list[FunctionResult]:
    """Return the functions with the states "replaced" and "pruned"; `texts` are the Rust texts by slot.

    A function is replaced if a model translated it and it calls no function that it would leave without a caller.
    Functions whose slots are `fixed` are never left out.
    """
    by_key = {key_of(one.slot): one for one in functions}
    replaced = {
        key
        for key in plan.replaced
        if (one := by_key.get(key)) and one.state == "translated" and one.accepted
        if not _calls(texts.get(one.slot, ""), [by_key[other] for other in plan.pruned if other in by_key])
    }
    pruned = {key for key, roots in plan.pruned.items() if key in by_key and replaced.issuperset(roots)}
    pruned -= {key for key in pruned if by_key[key].slot in fixed}

    def settled(one: FunctionResult) -> FunctionResult:
        key = key_of(one.slot)
        if key in replaced:
            return replace(one, state="replaced", libraries=plan.replaced[key].libraries)
        if key in pruned:
            names = [by_key[root].name for root in plan.pruned[key]]
            reason = f"only replaced functions need it: {listing(names, NAMES_SHOWN)}"
            return replace(one, state="pruned", proof="none", cause="pruned", reason=reason)
        return one

    return [settled(one) for one in functions]


def _calls(text: str, functions: Iterable[FunctionResult]) -> bool:
    words = set(WORD.findall(masked(text)))
    return any(name in words for one in functions for name in (one.rust_name.removeprefix("r#"), f"rust_{one.name}"))
