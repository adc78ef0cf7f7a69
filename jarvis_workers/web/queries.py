"""The parameters of pages and of the API, with their bounds."""

from difflib import get_close_matches
from typing import Annotated, Literal, TypeVar

from flask import abort, request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jarvis_workers.paths import plain
from jarvis_workers.runs.labels import parse_label_filters
from jarvis_workers.store.run_pages import RunFilter

PAGES_MAX = 100_000
NAME_SHOWN = 64
Text = Annotated[str, Field(max_length=400)]
RuleId = Annotated[str, Field(max_length=128, pattern=r"^[\w.:/+#@-]*$")]
Word = Annotated[str, Field(max_length=64, pattern=r"^[\w.-]*$")]

Query = TypeVar("Query", bound=BaseModel)


class PageQuery(BaseModel):
    """A page, numbered from 1, and its size."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    page: Annotated[int, Field(ge=1, le=PAGES_MAX)] = 1
    size: Annotated[int, Field(ge=1, le=500)] = 50


class RunQuery(PageQuery):
    """A filter of runs; empty values mean no restriction. `root` is the whole path, `label` is KEY=VALUE or KEY."""

    state: Word = ""
    kind: Word = ""
    root: Annotated[str, Field(max_length=4096)] = ""
    label: Annotated[str, Field(max_length=512)] = ""
    size: Annotated[int, Field(ge=1, le=500)] = 25

    def chosen(self) -> RunFilter:
        """Return the filter as the store expects it. Raises UsageError for an invalid label."""
        return RunFilter(self.state, self.kind, self.root, parse_label_filters([self.label] if self.label else []))


def _any(value: object) -> object:
    return None if value == "" else value


Severity = Annotated[Literal["high", "medium", "low"] | None, BeforeValidator(_any)]
Status = Annotated[
    Literal["proved", "confirmed", "review", "undecided", "heuristic", "dismissed", "suppressed"] | None,
    BeforeValidator(_any),
]
Triage = Annotated[Literal["none", "true", "false", "wontfix", "later"] | None, BeforeValidator(_any)]


class FindingQuery(PageQuery):
    """A filter of findings; empty values mean no restriction. `path` is a part of the file name."""

    severity: Severity = None
    status: Status = None
    triage: Triage = None
    rule: RuleId = ""
    analyzer: Word = ""
    category: Word = ""
    path: Text = ""


class DiffQuery(PageQuery):
    """Two runs to compare."""

    before: Annotated[str, Field(max_length=32, pattern=r"^[\w-]*$")] = ""
    after: Annotated[str, Field(max_length=32, pattern=r"^[\w-]*$")] = ""


class TrendQuery(BaseModel):
    """A source, by its whole path, or a project, the number of newest scans to include, and the scope of scans."""

    root: Annotated[str, Field(max_length=4096)] = ""
    project: Annotated[str, Field(max_length=256)] = ""
    runs: Annotated[int, Field(ge=2, le=200)] = 50
    scope: Annotated[str, Field(max_length=8, pattern=r"^[a-z0-9]*$")] = ""


class GateQuery(BaseModel):
    """A gate: the minimum severity that fails, and the baseline run; "last" is the previous run."""

    fail_on: Literal["high", "medium", "low"] = "high"
    baseline: Annotated[str, Field(max_length=32, pattern=r"^[\w-]*$")] = ""


def check_names(model: type[BaseModel] | None) -> None:
    """Answer a request with 400 if it has a parameter that the model lacks (None has none), or one more than once."""
    names = list(model.model_fields) if model else []
    for name, values in request.args.lists():
        shown = plain(name[:NAME_SHOWN])
        if name not in names:
            close = get_close_matches(name[:NAME_SHOWN], names, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else f"; parameters: {', '.join(names) or 'none'}"
            abort(400, f'unknown parameter "{shown}"{hint}')
        if len(values) > 1:
            abort(400, f'parameter "{shown}" is given {len(values)} times')


def read_query(model: type[Query]) -> Query:
    """Return the query parameters of the request; an invalid parameter is answered with 400."""
    try:
        return model.model_validate(request.args.to_dict())
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        abort(400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
