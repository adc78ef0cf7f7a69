"""Compare two conversions of a project, function by function.

A function is worse if its state or its proof fell: from a body by the model to a mechanical one, to C, or to a weaker
proof.  Functions are matched by their slot, the name that is unique in the project, so moved lines are no difference.
The proof of a pruned function, which is not called, is compared with no other.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from jarvis_workers.c2rust.conversion import BY_MODEL, PROOFS, Conversion, FunctionResult, failed_checks

Verdict = Literal["worse", "better", "changed"]
# In C, translated mechanically, translated by a model; functions that libraries make unnecessary count as replaced.
LEVELS = {"forwarded": 1, "mechanical": 2, **dict.fromkeys((*BY_MODEL, "pruned"), 3)}


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function in both conversions whose state or proof is different."""

    before: FunctionResult
    after: FunctionResult

    @property
    def verdict(self) -> Verdict:
        """Worse if state or proof fell, better if only a rise is left, changed if neither."""
        pairs = list(zip(_rank(self.before), _rank(self.after), strict=True))
        if "pruned" in (self.before.status, self.after.status):
            pairs.pop()
        if any(after < before for before, after in pairs):
            return "worse"
        return "better" if any(after > before for before, after in pairs) else "changed"


@dataclass(frozen=True, slots=True)
class ConversionDifference:
    """What differs between two conversions; `failures` are those of the later one that the earlier one has not.

    Functions of the earlier one are `not_checked` if the later one could not read their units.
    """

    changes: tuple[FunctionChange, ...] = ()
    new: tuple[FunctionResult, ...] = ()
    removed: tuple[FunctionResult, ...] = ()
    not_checked: tuple[FunctionResult, ...] = ()
    unchanged: int = 0
    failures: tuple[str, ...] = ()

    def having(self, verdict: Verdict) -> list[FunctionChange]:
        """Return the changes with a verdict."""
        return [one for one in self.changes if one.verdict == verdict]


def compare_conversions(before: Conversion, after: Conversion) -> ConversionDifference:
    """Return the difference, in the order of the functions of the later conversion."""
    old, new = ({one.slot: one for one in side.functions} for side in (before, after))
    changes = tuple(_changes(old, new))
    gone, files = [one for slot, one in old.items() if slot not in new], {file for file, _ in after.not_checked}
    unread = {one.slot for one in gone if _is_unread(one, files)}
    return ConversionDifference(
        changes,
        tuple(one for slot, one in new.items() if slot not in old),
        tuple(one for one in gone if one.slot not in unread),
        tuple(one for one in gone if one.slot in unread),
        len(old.keys() & new.keys()) - len(changes),
        tuple(new_failures(before, after)),
    )


def new_failures(before: Conversion, after: Conversion, say: Callable[..., str] = str.format) -> Iterator[str]:
    """Yield the lines of the failed gates and test commands that did not fail before."""
    earlier = {(one.gate, one.command) for one in failed_checks(before)}
    return (one.line for one in failed_checks(after, say) if (one.gate, one.command) not in earlier)


def _is_unread(function: FunctionResult, files: Collection[str]) -> bool:
    """Return whether a function may be in a unit that was not read: its file is one, or may be included by one."""
    return function.file in files or (bool(files) and not function.file.endswith(".c"))


def _changes(old: Mapping[str, FunctionResult], new: Mapping[str, FunctionResult]) -> Iterator[FunctionChange]:
    for slot, after in new.items():
        before = old.get(slot)
        if before and (before.status, before.proof) != (after.status, after.proof):
            yield FunctionChange(before, after)


def _rank(one: FunctionResult) -> tuple[int, int]:
    return LEVELS.get(one.status, 0), PROOFS.index(one.proof)
