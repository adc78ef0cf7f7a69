"""An option of a run, declared at the field that it sets.

The line `tokens: Annotated[int, Option("--tokens", "Tokens to spend", at_least=1)] = 200_000` in a frozen dataclass is
all that an option needs: the command line with its help, the value from the settings, and the check of the value derive
from it. The annotation must not be a string.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

# The parts of a help text that several commands have.
AGENTS, EXECUTION, REPORT = "Agents", "Execution", "Report"


@dataclass(frozen=True)
class Option:
    """How a user sets a field.

    `names` are those on the command line, such as "--crate-dir -o" or "--cache/--no-cache"; a name without dashes is
    that of a positional argument, and a field without names is set by its `setting` alone. An option with a `setting`
    overrides it; without the option, the field has its value. `completion` is the name of a function of the shell
    completion, `panel` a part of the help text. If the type on the command line is not that of the field, it is
    `given`, and `read` converts such a value.
    """

    names: str = ""
    help: str = ""
    panel: str | None = None
    metavar: str | None = None
    setting: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    completion: str | None = None
    hidden: bool = False
    given: Any = None
    read: Callable[[Any], Any] | None = None

    @property
    def is_argument(self) -> bool:
        """Whether the option is a positional argument."""
        return bool(self.names) and not self.names.startswith("-")

    @property
    def title(self) -> str:
        """The name in messages: the longest one, or that of the setting."""
        return max(self.names.partition("/")[0].split() or [self.setting or ""], key=len)

    def check(self, value: Any) -> None:
        """Raise UsageError for a number out of bounds."""
        low, high = self.at_least, self.at_most
        if value is None or ((low is None or value >= low) and (high is None or value <= high)):
            return
        kind = "a whole number" if isinstance(value, int) else "a number"
        if low is not None and high is not None:
            bounds = f" from {low:,} to {high:,}"
        else:
            bounds = f" of at least {low:,}" if low is not None else f" of at most {high:,}"
        raise UsageError(f'{self.title}: "{plain(str(value))}" is not {kind}{bounds}')


@cache
def options_in(record: type) -> Mapping[str, Option]:
    """Return the options of a dataclass by field, in the order of the fields."""
    return {one.name: option for one in fields(record) for option in _declared(one)}


def _declared(one: "Field[Any]") -> Iterator[Option]:
    return (mark for mark in getattr(one.type, "__metadata__", ()) if isinstance(mark, Option))


def check_values(record: object) -> None:
    """Raise UsageError if an option of a dataclass is out of its bounds."""
    kind: type = type(record)
    for name, option in options_in(kind).items():
        option.check(getattr(record, name))


def values_of_settings(settings: Any, record: type) -> dict[str, Any]:
    """Return the values of the fields of a dataclass that are set by a setting."""
    return {name: attrgetter(one.setting)(settings) for name, one in options_in(record).items() if one.setting}
