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


class SteppedClock(FakeClock):
    """A database clock that may be set, beside the monotonic clock of the machine, which may not."""

    def __init__(self) -> None:
        super().__init__(2_000_000_000.0)
        self._set_by = 0.0

    def monotonic(self) -> float:
        return self.now - self._set_by

    def step(self, seconds: float) -> None:
        """Set the clock of the database."""
        self.now += seconds
        self._set_by += seconds
