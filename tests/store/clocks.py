"""A clock that advances only when a test sets it."""

from sqlalchemy import ColumnElement, Float, literal


class FakeClock:
    """Replaces the clock of the database and of the machine."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> ColumnElement[float]:
        return literal(self.now, Float(53))

    def monotonic(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds
