"""The results of a run over a given interface: its functions, the tests of its crate, and lines of unsafe code."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import TypeAdapter

from jarvis_workers.words import ENGLISH


@dataclass(frozen=True, slots=True)
class CrateTest:
    """A test of a crate: `program` is the source file of its program, `detail` says why it failed."""

    program: str
    name: str
    passed: bool
    detail: str = ""

    @property
    def label(self) -> str:
        return f"{self.program}: {self.name}"


@dataclass(frozen=True, slots=True)
class CrateOutcome:
    """A crate that was built with its tests; `error` says why it does not build."""

    error: str = ""
    tests: tuple[CrateTest, ...] = ()

    @property
    def failed(self) -> tuple[CrateTest, ...]:
        return tuple(one for one in self.tests if not one.passed)


@dataclass(frozen=True, slots=True)
class InterfaceFunction:
    """A function that had no body; `reason` says why it still has none, "" if it has one."""

    file: str
    line: int
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class InterfaceResult:
    """The result of a run: `outcome` is that of the whole crate with all bodies."""

    functions: tuple[InterfaceFunction, ...] = ()
    outcome: CrateOutcome = CrateOutcome()
    unsafe_lines: int = 0
    answers: int = 0

    @property
    def missing(self) -> tuple[InterfaceFunction, ...]:
        return tuple(one for one in self.functions if one.reason)

    @property
    def summary(self) -> str:
        """The result in one line."""
        tests = f"{len(self.outcome.tests) - len(self.outcome.failed):,} of {len(self.outcome.tests):,} tests pass"
        if self.outcome.error:
            tests = f"the crate DOES NOT BUILD: {self.outcome.error}"
        bodies = f"{len(self.functions) - len(self.missing):,} of {len(self.functions):,} functions have a body"
        return f"{bodies}; {tests}; {ENGLISH.count(self.unsafe_lines, 'line')} of unsafe code"

    def failures(self) -> Iterator[str]:
        """Yield what is not done, one line each."""
        if self.outcome.error:
            yield f"the crate DOES NOT BUILD: {self.outcome.error}"
        yield from (f"{one.file}:{one.line}: {one.name}: {one.reason}" for one in self.missing)
        yield from (f"{one.label}: FAILS: {one.detail}" for one in self.outcome.failed)


_ADAPTER = TypeAdapter(InterfaceResult)
_OUTCOME = TypeAdapter(CrateOutcome)


def encode_result(result: InterfaceResult) -> bytes:
    """Return a result as JSON."""
    return _ADAPTER.dump_json(result)


def decode_result(content: bytes) -> InterfaceResult:
    """Return the result that `encode_result` encoded."""
    return _ADAPTER.validate_json(content)


def encode_outcome(outcome: CrateOutcome) -> str:
    """Return an outcome as JSON."""
    return _OUTCOME.dump_json(outcome).decode()


def decode_outcome(text: str) -> CrateOutcome:
    """Return the outcome that `encode_outcome` encoded."""
    return _OUTCOME.validate_json(text)
