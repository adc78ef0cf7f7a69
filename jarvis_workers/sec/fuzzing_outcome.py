"""What a report says of fuzzing: each target, how long it was fuzzed, or why it was not."""

from collections.abc import Sequence
from typing import NamedTuple


class FuzzedTarget(NamedTuple):
    """A fuzz target or program that was fuzzed, with the number of different errors; `reason` is why not, or not all.

    The `engine` is libFuzzer or mutations, "" if it did not run.
    """

    target: str
    engine: str = ""
    runs: int = 0
    seconds: int = 0
    errors: int = 0
    reason: str = ""


class FuzzingOutcome(NamedTuple):
    """What was fuzzed, and what was not."""

    targets: Sequence[FuzzedTarget]
