"""Run budgets in dollars, tokens or time, as users write them: 5usd, 200ktok or 30min.

Amounts are integers in the smallest part of a unit, so that sums are exact: billionths of a dollar, tokens,
milliseconds.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Unit = Literal["usd", "tok", "s"]

PARTS: dict[Unit, int] = {"usd": 1_000_000_000, "tok": 1, "s": 1000}
NAMES: dict[Unit, str] = {"usd": "dollar", "tok": "token", "s": "second"}
SUFFIXES: dict[str, tuple[Unit, int]] = {
    "usd": ("usd", 1),
    "tok": ("tok", 1),
    "ktok": ("tok", 1_000),
    "mtok": ("tok", 1_000_000),
    "s": ("s", 1),
    "min": ("s", 60),
    "h": ("s", 3600),
}
WRITTEN = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*([a-zA-Z]{1,4})\s*", re.ASCII)
LARGEST = 10**18


@dataclass(frozen=True, slots=True)
class RunBudget:
    """The total that a run may spend; `cap` is in integer subunits (see PARTS)."""

    unit: Unit
    cap: int

    @property
    def amount(self) -> float:
        """The cap in dollars, tokens or seconds."""
        return self.in_units(self.cap)

    def in_units(self, parts: int) -> float:
        """Convert integer subunits to dollars, tokens or seconds."""
        return parts if self.unit == "tok" else round(parts / PARTS[self.unit], 9)

    def shows(self, parts: int) -> str:
        """Format an amount in integer subunits for display."""
        if self.unit == "tok":
            return f"{parts:,} {noun_of(self.unit, parts)}"
        amount = f"{self.in_units(parts):{'.4f' if self.unit == 'usd' else ',.0f'}}"
        return f"{amount} {noun_of(self.unit, float(amount.replace(',', '')))}"

    def says(self, spent: int) -> str:
        """Format `spent` and the cap for display; `spent` is in integer subunits."""
        if self.unit == "tok":
            return f"{spent:,} of {self.cap:,} {noun_of(self.unit, self.cap)}"
        digits = ".4f" if self.unit == "usd" else ",.0f"
        return f"{self.in_units(spent):{digits}} of {self.amount:,g} {noun_of(self.unit, self.amount)}"


def read_budget(text: str) -> RunBudget:
    """Parse a budget such as "5usd". Raises ValueError."""
    match = WRITTEN.fullmatch(text)
    suffix = SUFFIXES.get(match[2].lower()) if match else None
    if match is None or suffix is None:
        raise ValueError(f"should be an amount and a unit ({', '.join(SUFFIXES)}), such as 5usd, 200ktok or 30min")
    unit, many = suffix
    cap = int(Decimal(match[1]) * many * PARTS[unit])
    if not 0 < cap <= LARGEST:
        raise ValueError("should be positive and within the supported range")
    return RunBudget(unit, cap)


def noun_of(unit: Unit, amount: float) -> str:
    """Return the name of a unit for an amount of it."""
    return f"{NAMES[unit]}{'' if amount == 1 else 's'}"


def amount_of(unit: Unit, tokens: int, cost: float | None) -> int:
    """Return the cost of an answer in integer subunits; `cost` is in dollars, and unknown costs count as 0.

    For a budget of time the cost is 0: time is not charged per answer.
    """
    if unit == "usd":
        return round((cost or 0.0) * PARTS["usd"])
    return tokens if unit == "tok" else 0
