"""The values of the JSON API, from which its OpenAPI description is generated."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

RunName = Annotated[str, Field(max_length=32, pattern=r"^[\w-]+$", description='Id of a run, or "last".')]
FindingName = Annotated[str, Field(max_length=64, pattern=r"^\w+$", description="Id or fingerprint of a finding.")]


class ApiError(BaseModel):
    """The body of an error response."""

    error: str


class RunPath(BaseModel):
    run_id: RunName


class ActionPath(RunPath):
    action: Literal["cancel", "resume", "retry"]


class FindingPath(RunPath):
    finding_id: FindingName


class RunOut(BaseModel):
    """A run; times are in seconds since 1970, `percent` is None if the run has ended.

    `findings`, `not_checked` and `scope` are None unless the run is a scan.
    """

    id: str
    kind: str
    state: str
    reason: str | None
    root: str
    project: str
    name: str
    labels: dict[str, str]
    created_at: float
    started_at: float | None
    ended_at: float | None
    percent: int | None
    findings: dict[str, int] | None = Field(description="Number of findings of an ended scan, by severity.")
    not_checked: int | None
    scope: str | None


class RunList(BaseModel):
    """A page of runs, newest first, and the number of runs on all pages."""

    total: int
    page: int
    runs: list[RunOut]


class StageOut(BaseModel):
    """A stage with its counts; `cost` and the estimate `cost_left` are in dollars, None if the model has no prices."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    state: str
    jobs: int
    done: int
    failed: int
    running: int
    files: int
    not_checked: int
    tokens: int
    cost: float | None
    tokens_left: int
    cost_left: float | None


class RunDetail(RunOut):
    """A run with its stages and the summary of its report."""

    stages: list[StageOut]
    summary: dict[str, Any] | None = Field(description="None unless the run is a scan.")


class TriageIn(BaseModel):
    """A verdict on a finding; false and wontfix need a reason."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["true", "false", "wontfix", "later"]
    reason: Annotated[str, Field(max_length=1000)] = ""


class TriageOut(BaseModel):
    """The triage verdict on a fingerprint, valid for all runs."""

    verdict: str
    reason: str
    by: str
    at: float | None


class FindingOut(BaseModel):
    """A finding, and its triage verdict."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    severity: str
    status: str
    pattern: str
    category: str
    file: str
    line: int
    evidence: str
    confidence: float
    score: float
    cwe: int
    fingerprint: str
    triage: TriageOut | None = None


class FindingList(BaseModel):
    """A page of findings, worst first, and the number of findings on all pages.

    Findings may be missing unless the scan is `complete`: it has ended, and no file is `not_checked`.
    """

    run: str
    state: str
    complete: bool
    not_checked: int
    total: int
    page: int
    findings: list[FindingOut]


class FindingDetail(BaseModel):
    """A finding in the form of the JSON report, with the code around it."""

    finding: dict[str, Any]
    triage: TriageOut | None
    code: list[dict[str, Any]]
    conversation: int | None


class GateOut(BaseModel):
    """Whether a run passes: `outcome` is passed, failed or incomplete. At most 100 findings are listed."""

    run: str
    outcome: str
    reason: str
    number: int
    baseline: str | None
    findings: list[FindingOut]


class DiffOut(BaseModel):
    """The difference of two scans; each list has one page.

    With different scopes, findings may be new or gone for that reason.
    """

    different_scopes: list[str]
    before: str
    after: str
    counts: dict[str, int]
    notes: list[str]
    new: list[FindingOut]
    changed: list[FindingOut]
    fixed: list[FindingOut]
    not_checked: list[FindingOut]


class ScopeOut(BaseModel):
    """A scope of scans, and the number of scans that have it."""

    id: str
    text: str
    runs: int


class TrendOut(BaseModel):
    """The scans of a source or project with one scope, oldest first, and the scopes of all."""

    scope: str | None
    scopes: list[ScopeOut]
    runs: list[RunOut]
