"""Compare two conversions of a project, function by function.

A function is worse if its state or its proof fell: from a body by the model to a mechanical one, to C, or to a weaker
proof.  Functions are matched by their slot, the name that is unique in the project, so moved lines are no difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from jarvis_workers.c2rust.conversion import BY_MODEL, PROOFS, Conversion, FunctionResult, failures

Verdict = Literal["worse", "better", "changed"]
# From C to Rust by a model; functions that libraries make unnecessary are as good as replaced.
LEVELS = {"forwarded": 1, "mechanical": 2, **dict.fromkeys((*BY_MODEL, "pruned"), 3)}


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function in both conversions whose state or proof is different."""

    before: FunctionResult
    after: FunctionResult

    @property
    def verdict(self) -> Verdict:
        """Worse if state or proof fell, better if only a rise is left, changed if C stays C for another reason."""
        pairs = list(zip(_rank(self.before), _rank(self.after), strict=True))
        if any(after < before for before, after in pairs):
            return "worse"
        return "better" if any(after > before for before, after in pairs) else "changed"


@dataclass(frozen=True, slots=True)
class ConversionDifference:
    """What differs between two conversions; `failures` are those of the later one that the earlier one has not."""

    changes: tuple[FunctionChange, ...] = ()
    new: tuple[FunctionResult, ...] = ()
    removed: tuple[FunctionResult, ...] = ()
    unchanged: int = 0
    failures: tuple[str, ...] = ()

    def having(self, verdict: Verdict) -> list[FunctionChange]:
        """Return the changes with a verdict."""
        return [one for one in self.changes if one.verdict == verdict]


def compare_conversions(before: Conversion, after: Conversion) -> ConversionDifference:
    """Return the difference, in the order of the functions of the later conversion."""
    old, new = ({one.slot: one for one in side.functions} for side in (before, after))
    changes = tuple(_changes(old, new))
    earlier = failures(before)
    return ConversionDifference(
        changes,
        tuple(one for slot, one in new.items() if slot not in old),
        tuple(one for slot, one in old.items() if slot not in new),
        len(old.keys() & new.keys()) - len(changes),
        tuple(line for line in failures(after) if line not in earlier),
    )


def _changes(old: Mapping[str, FunctionResult], new: Mapping[str, FunctionResult]) -> Iterator[FunctionChange]:
    for slot, after in new.items():
        before = old.get(slot)
        if before and (before.status, before.proof) != (after.status, after.proof):
            yield FunctionChange(before, after)


def _rank(one: FunctionResult) -> tuple[int, int]:
    proof = len(PROOFS) if one.status == "pruned" else PROOFS.index(one.proof)
    return LEVELS.get(one.status, 0), proof
