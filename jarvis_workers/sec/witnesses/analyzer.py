"""What is known of an analyzer that a scan can run."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jarvis_workers.sec.alerts.alert import Alert

REASON_MAX = 300


class AnalyzerAnswer(NamedTuple):
    """What an analyzer says about a unit: alerts, and why they are not all, "" if they are.

    An answer that does not `last` would be another one on another machine, or the next time.
    """

    alerts: tuple[Alert, ...] = ()
    failure: str = ""
    lasts: bool = True


class Analyzer(NamedTuple):
    """An analyzer of translation units, or of the crates that cargo compiles together.

    `words` returns a command line, given a program, a file and the arguments of its compiler, or the directory of a
    crate and the root of the tree; `read` the answer in its output and its messages.
    """

    name: str
    words: Callable[[str, str, Sequence[str]], list[str]]
    read: Callable[[str, str], AnalyzerAnswer]
    of_crates: bool = False
