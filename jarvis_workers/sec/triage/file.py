"""Triage verdicts as a YAML file, for a team's repository.

A file is sorted by file and rule, for readable diffs. When it is read it is untrusted: its size is bounded, each entry
is validated, and an invalid file is rejected as a whole.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.reprs import short
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState
from jarvis_workers.settings.yamlfiles import Checked, describe_problem, one_line, read_text, read_yaml, shown_path
from jarvis_workers.yamlloader import WithoutAliases

VERSION = 1
REASON_MAX = 1_000
BY_MAX = 100
PATH_MAX = 4_096
FILE_BYTES = 2 << 20
ENTRIES_MAX = 10_000
HEAD = f"# Triage verdicts on jarvis findings: docs/triage.md\nversion: {VERSION}\n"
NAMES = ("fingerprint", "rule", "verdict", "reason", "by", "at", "file")


def _moment(value: object) -> object:
    """Return a time; YAML has a type for it, and equivalent text is accepted as well."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    raise ValueError("should be a time such as 2026-11-21T13:31:52Z")


def _state(value: object) -> object:
    """Return the triage state: YAML booleans and words are converted, since the strict model accepts members only."""
    read = TriageState.read(value)
    if read not in list(TriageState):
        raise ValueError("should be true, false, wontfix or later")
    return TriageState(str(read))


Reason = Annotated[str, Field(max_length=REASON_MAX), AfterValidator(one_line)]
Name = Annotated[str, Field(max_length=BY_MAX), AfterValidator(one_line)]
Place = Annotated[str, Field(max_length=PATH_MAX), AfterValidator(one_line)]


class TriageEntry(Checked):
    """A triage verdict as an entry of a file."""

    fingerprint: Annotated[str, Field(pattern=r"\A[0-9a-f]{16}\z")]
    rule: Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]{1,63}\z")]
    verdict: Annotated[TriageState, BeforeValidator(_state)]
    reason: Reason = ""
    by: Name = ""
    at: Annotated[float, BeforeValidator(_moment)] | None = None
    file: Place = ""

    @model_validator(mode="after")
    def _has_a_reason(self) -> "TriageEntry":
        if self.verdict.needs_reason and not self.reason.strip():
            raise ValueError(f"verdict is {self.verdict.value}, which needs a reason")
        return self


class TriageFile(NamedTuple):
    """The verdicts of a file, and a line for each invalid entry."""

    judgements: tuple[Judgement, ...]
    problems: tuple[str, ...] = ()


def read_triage(file: Path) -> TriageFile:
    """Return the content of a file. Raises UsageError if it is not a file of verdicts at all."""
    document = read_yaml(file, FILE_BYTES)
    where = shown_path(file)
    if not isinstance(document, dict) or set(document) != {"version", "judgements"}:
        raise UsageError(f"{where} is {plain(short.repr(document))}; expected version and judgements")
    if (type(document["version"]), document["version"]) != (int, VERSION):
        raise UsageError(
            f"{where} has format version {plain(short.repr(document['version']))}; this program supports {VERSION}"
        )
    rows = document["judgements"]
    if not isinstance(rows, list):
        raise UsageError(f"{where}: judgements is {plain(short.repr(rows))}; expected a list")
    if len(rows) > ENTRIES_MAX:
        raise UsageError(f"{where}: {len(rows):,} judgements, limit {ENTRIES_MAX:,}; split the file")
    return _checked(rows, file)


def triage_text(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield the text of a file in pieces."""
    rows = [_row(one) for one in judgements]
    yield HEAD
    if not rows:
        yield "judgements: []\n"
        return
    yield "judgements:\n"
    for row in rows:
        yield yaml.safe_dump([row], sort_keys=False, allow_unicode=True, width=1_000_000)


def would_lose(file: Path, judgements: Iterable[Judgement]) -> int:
    """Return how many verdicts of an existing file would be missing from the new one."""
    if not os.path.lexists(file):
        return 0
    fingerprints = {one.fingerprint for one in judgements}
    return sum(one.fingerprint not in fingerprints for one in read_triage(file).judgements)


def _checked(rows: Sequence[object], file: Path) -> TriageFile:
    judgements: dict[str, Judgement] = {}
    problems: dict[int, str] = {}
    for number, row in enumerate(rows):
        try:
            entry = TriageEntry.model_validate(row)
        except ValidationError as error:
            problems[number] = _wrong(row, error)
            continue
        if entry.fingerprint in judgements:
            problems[number] = f"{entry.fingerprint} occurs twice"
        judgements[entry.fingerprint] = Judgement(**entry.model_dump())
    place = _places(file) if problems else str
    return TriageFile(
        tuple(judgements.values()), tuple(f"{place(number)}: {says}" for number, says in problems.items())
    )


def _wrong(row: object, error: ValidationError) -> str:
    if not isinstance(row, dict):
        return f"is {plain(short.repr(row))}; expected a mapping of field names to values"
    return describe_problem(error, TriageEntry)[0]


def _places(file: Path) -> Callable[[int], str]:
    """Return a function from the index of an entry to its line; the file must have been parsed before."""
    root: Any = yaml.compose(read_text(file, FILE_BYTES), WithoutAliases)
    entries = next(value for key, value in root.value if key.value == "judgements").value
    return lambda number: f"{shown_path(file)}:{entries[number].start_mark.line + 1}: judgement {number + 1}"


def _row(one: Judgement) -> dict[str, Any]:
    moment = None if one.at is None else datetime.fromtimestamp(one.at, UTC).isoformat(timespec="milliseconds")
    row = one.model_dump() | {"verdict": one.verdict.plain_value, "at": moment, "file": plain(one.file)}
    return {name: row[name] for name in NAMES if row[name] not in ("", None)}
