"""The types of single settings: how text and lists are read, their bounds, and which values narrow a scan."""

import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field

from jarvis_workers.models.ratelimit.budget import read_budget
from jarvis_workers.settings.mcp_servers import McpServer, check_servers, read_servers

DEFAULT_EXTENSIONS = (
    *("c", "cpp", "h", "hpp", "rs", "cc", "cxx", "c++", "cp", "C", "hh", "hxx", "inl", "ipp", "tpp"),
    *("tcc", "txx", "icc", "i", "ii", "mi", "mii", "hp", "h++", "mm"),
    *("cppm", "ccm", "cxxm", "c++m", "ixx", "cu", "cuh", "hip", "ino"),
    *("l", "ll", "y", "yy"),
)


def _listed(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def _split(value: object) -> object:
    return tuple(shlex.split(value)) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _mapped(value: object) -> object:
    if isinstance(value, str):
        parts = (part.partition("=") for part in value.split(",") if part.strip())
        return {name.strip(): text.strip() for name, _, text in parts}
    return value


PAID = "an amount in dollars (1usd) or tokens (200ktok)"


def _bare(suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(suffix.removeprefix(".") for suffix in suffixes)


def _path(value: object) -> object:
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ValueError("should be a path")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # no such user
        raise ValueError("should be a path of an existing user") from error


def _search_address(url: str) -> str:
    is_address = url.startswith(("http://", "https://")) and url.isascii() and url.isprintable()
    if not is_address or "{query}" not in url:
        raise ValueError(
            "should be an address with {query}, such as http://127.0.0.1:8888/search?format=json&q={query}"
        )
    return url


def _budget(text: str) -> str:
    read_budget(text)
    return text


def _paid(text: str) -> str:
    try:
        unit = read_budget(text).unit
    except ValueError as error:
        raise ValueError(f"should be {PAID}") from error
    if unit == "s":
        raise ValueError(f"which is a time; it should be {PAID}")
    return text


SettingPath = Annotated[Path, BeforeValidator(_path, json_schema_input_type=str)]
Budget = Annotated[str, AfterValidator(_budget)]
# A budget that is estimated beforehand, as no time can be.
PaidBudget = Annotated[str, AfterValidator(_paid)]
SearchAddress = Annotated[str, AfterValidator(_search_address)]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=list[str] | str)]
Arguments = Annotated[tuple[str, ...], BeforeValidator(_split, json_schema_input_type=list[str] | str)]
Suffixes = Annotated[Names, AfterValidator(_bare)]
Language = Literal["c/cpp", "rust"]
Languages = Annotated[tuple[Language, ...], BeforeValidator(_listed, json_schema_input_type=list[Language] | str)]
Severity = Literal["high", "medium", "low"]
Severities = Annotated[dict[str, Severity], BeforeValidator(_mapped, json_schema_input_type=dict[str, Severity] | str)]
Servers = Annotated[
    tuple[McpServer, ...],
    BeforeValidator(read_servers, json_schema_input_type=list[McpServer] | str),
    AfterValidator(check_servers),
]
Seconds = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000_000)]
Files = Annotated[int, Field(ge=1, le=1_000_000_000)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Megabytes = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


@dataclass(frozen=True)
class Narrowing:
    """Marks a setting by which a scan finds less: `narrows` compares a trusted value with that of a checkout."""

    narrows: Callable[[Any, Any], bool]


def _lacks(trusted: Collection[str], value: Collection[str]) -> bool:
    return not set(trusted) <= set(value)


def _selects(trusted: Collection[str], value: Collection[str]) -> bool:
    """Compare two selections; an empty one selects everything."""
    return bool(value) and (not trusted or _lacks(trusted, value))


FewerNarrow = Narrowing(_lacks)
MoreNarrow = Narrowing(lambda trusted, value: _lacks(value, trusted))
SelectionNarrows = Narrowing(_selects)
LessNarrows = Narrowing(lambda trusted, value: value < trusted)
GreaterNarrows = Narrowing(lambda trusted, value: value > trusted)
# Where no order of the values is known, such as for the severities of rules.
ChangeNarrows = Narrowing(lambda trusted, value: value != trusted)


class ScopeNotes(NamedTuple):
    """What a checkout does to the scope of its scan in CI (`runs.trusted_scope`).

    `altered` is what the change under test narrows, compared with its base; the `notice` is a line about settings that
    would narrow the scan and have no effect.
    """

    altered: tuple[str, ...] = ()
    notice: str | None = None
    reads_jarvisignore: bool = True
