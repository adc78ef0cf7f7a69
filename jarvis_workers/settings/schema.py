"""The settings: type, bounds and default of each."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.settings.field_types import (
    DEFAULT_EXTENSIONS,
    Arguments,
    Budget,
    ChangeNarrows,
    Count,
    FewerNarrow,
    Files,
    GreaterNarrows,
    Languages,
    LessNarrows,
    Megabytes,
    MoreNarrow,
    Names,
    PaidBudget,
    Percent,
    ScopeNotes,
    SearchAddress,
    Seconds,
    SelectionNarrows,
    Servers,
    SettingPath,
    Severities,
    Suffixes,
    Tokens,
)
from jarvis_workers.sourcelinks import check_template
from jarvis_workers.telemetry import LogLevel


def default_data_dir() -> Path:
    """Return the data directory of a user who has set none."""
    import platformdirs

    return Path(platformdirs.user_data_dir("jarvis-workers"))


class FrozenSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


DEFAULT_EXCLUDE_DIRS = (".git", ".pc", "build", "out", "target", "third_party", "vendor", ".jarvis")


class ScanSettings(FrozenSettings):
    """The files to scan, and the batch sizes; suffixes have no dot, and select their capitals, too (`C` is not `c`).

    Files that C and C++ sources include are scanned whatever their suffixes.

    A tree of at most `small_files` files is scanned in-process, without an executor; 0 disables this.

    `witness` are the other analyzers to run, or "auto" for all that are installed; each may take so much time and
    memory for a unit.
    """

    extensions: Annotated[Suffixes, FewerNarrow] = DEFAULT_EXTENSIONS
    languages: Annotated[Languages, FewerNarrow] = ("c/cpp", "rust")
    exclude_dirs: Annotated[Names, MoreNarrow] = DEFAULT_EXCLUDE_DIRS
    use_ignore_files: Annotated[bool, GreaterNarrows] = True
    jarvisignore_of_addresses: Annotated[bool, GreaterNarrows] = False
    git_max_files: Files = 2_000_000
    git_max_mb: Megabytes = 50_000
    max_file_mb: Annotated[Megabytes, LessNarrows] = 256
    batch_mb: Megabytes = 16
    batch_files: Count = 1000
    small_files: Annotated[int, Field(ge=0, le=1000)] = 50
    hard_limit_seconds: Seconds = 300
    file_seconds: Seconds = 10
    file_memory_mb: Megabytes = 2048
    witness: Annotated[Names, FewerNarrow] = ()
    witness_seconds: Annotated[Seconds, LessNarrows] = 120
    witness_memory_mb: Annotated[Megabytes, LessNarrows] = 2048


class RulesSettings(FrozenSettings):
    """Selection of rules by id; `paths` are files or directories with project-specific rules.

    With `learned`, confidences are adjusted by the triage verdicts on earlier findings. A `depth` of "rules" disables
    the data-flow rules, and with them the data-flow analysis.
    """

    disable: Annotated[Names, MoreNarrow] = ()
    enable_only: Annotated[Names, SelectionNarrows] = ()
    categories: Annotated[Names, SelectionNarrows] = ()
    severity: Annotated[Severities, ChangeNarrows] = Field(default_factory=dict)
    paths: Annotated[Names, ChangeNarrows] = ()
    learned: Annotated[bool, ChangeNarrows] = False
    depth: Annotated[Depth, ChangeNarrows] = FLOW_DEPTH


class Cache(FrozenSettings):
    """Size limits of the result cache of this machine; 0 disables it."""

    max_mb: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] = 500

    @property
    def max_bytes(self) -> int:
        return int(self.max_mb * 1_000_000)


class StoreSettings(FrozenSettings):
    """Timeout of a PostgreSQL statement, after which the connection is abandoned, and how long a start waits."""

    statement_seconds: Seconds = 15
    start_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class AgentSettings(FrozenSettings):
    """Limits of a conversation (None: no limit), and directories with after-tool callbacks.

    With more tools than `filter_above`, the model first selects those it needs; tool output is cut to `output_tokens`.
    With `use_methodology`, an agent gets methodologies that fit its task; with `use_analysis`, it may save new ones at
    the end. With `memory`, agents of `jarvis agent` have the memories of their project; with `force_save_memory`, the
    model is asked to save some at the end. `jarvis sec agent` reads files whole, with a `read` of "auto" as many as
    `read_budget` pays for; with `canary`, it adds a known bug as a check of the model; with `prove`, it proves
    confirmed findings of high severity, if there is a compiler; it fuzzes for `fuzz_seconds`. In conversations with a
    person, `autonomy` decides which calls run by themselves. All of a run share the `budget`.
    """

    rounds: Count = 60
    tokens: Tokens | None = 2_000_000
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    seconds: Seconds = 3600
    budget: Budget | None = None
    filter_above: Count = 30
    output_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = 4000
    after_tool_call_cb_dirs: Names = ()
    use_methodology: bool = True
    use_analysis: bool = False
    memory: bool = True
    force_save_memory: bool = False
    canary: bool = True
    prove: bool = True
    fuzz_seconds: Annotated[int, Field(ge=0, le=86_400)] = 0
    read: Literal["auto", "all", "none"] = "auto"
    read_budget: PaidBudget = "500ktok"
    autonomy: Literal["readonly", "supervised", "full"] = "full"


class SecSettings(FrozenSettings):
    """The file with the user's notes on the threat model; default: ~/.jarvis/security.md (docs/agents.md)."""

    notes: SettingPath | None = None

    @property
    def notes_file(self) -> Path | None:
        own = Path.home() / ".jarvis" / "security.md"
        return self.notes or (own if own.is_file() else None)


class SearchSettings(FrozenSettings):
    """The endpoint of the tool search_web (docs/mcp.md): `{query}` in its address is replaced by the search terms.

    The variable `key_env` holds a key, which is sent as a bearer token.
    """

    url: SearchAddress | None = None
    key_env: str | None = None


class ReportSettings(FrozenSettings):
    """Settings of reports; `source_url` is the template of links to the source (sec/sourcelinks)."""

    min_confidence: Annotated[float, Field(ge=0, le=1), GreaterNarrows] = 0.4
    source_url: Annotated[str, AfterValidator(check_template)] | None = None


# In ASCII, without user and password, which must not be in a setting that error messages quote.
WEBHOOK_URL = r"^https?://([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?([/?][!-~]*)?$"


class NotifySettings(FrozenSettings):
    """The address that is notified of the end of each run, and the file with the signing key (docs/web.md)."""

    webhook_url: Annotated[str, Field(pattern=WEBHOOK_URL, max_length=2000)] | None = None
    webhook_secret_file: SettingPath | None = None


class WebSettings(FrozenSettings):
    """Access to the web interface: how users sign in, and who may make changes.

    `users_file` and `tokens_file` hold hashes (docs/web.md). Only a proxy in `trusted_proxies` (addresses or networks)
    may name the user; members of `editor_groups` may make changes, and if `viewer_groups` are given, no other group may
    read. `hosts` are the names under which the web interface is reached.
    """

    auth: Literal["token", "basic", "proxy"] = "token"
    users_file: SettingPath | None = None
    tokens_file: SettingPath | None = None
    hosts: Names = ()
    trusted_proxies: Names = ()
    user_header: str = "X-Forwarded-User"
    groups_header: str = "X-Forwarded-Groups"
    editor_groups: Names = ()
    viewer_groups: Names = ()


class C2RustSettings(FrozenSettings):
    """Settings for parsing, building and testing C.

    `clang_headers` is the directory of clang's builtin headers, for libclang's major version.  Without compile
    commands, all sources are read with `args`.  Builds and tests may read the directories in `tool_chains`, each with a
    `bin`.  A command is killed when it exceeds its limits, a job of the queue "build" after `hard_limit_seconds`.
    Parsing a translation unit is limited to `unit_seconds` of CPU time and `unit_memory_mb` of memory.  Crates other
    than those of the compiler may replace functions only if they are in `allowed_crates`; they come from the directory
    `vendor`, as `cargo vendor` writes it, or from `--fetch-crates`, in at most `fetch_seconds`.  Those that a run uses
    are limited to `vendor_mb`.  The modules of a crate are requested again at most `plan_max_retries` times.
    A run is paused when the model has no accepted body for more than `pause_share` (such as 0.6) of the last 50
    functions; by default, it is not.

    The gates of the roadmap: the minimum decrease of `score_sum` in percent, the maximum number of remaining high
    findings, the minimum percentage of functions that libraries replace, the maximum number of attempts per function,
    and the maximum ratio of test times in Rust and C.
    """

    clang_headers: str | None = None
    args: Arguments = ()
    tool_chains: Names = ()
    build_seconds: Seconds = 1800
    test_seconds: Seconds = 600
    hard_limit_seconds: Seconds = 14_400
    build_memory_mb: Megabytes = 4096
    build_disk_mb: Megabytes = 8192
    unit_seconds: Seconds = 60
    unit_memory_mb: Megabytes = 2000
    allowed_crates: Names = ()
    vendor: str | None = None
    vendor_mb: Megabytes = 128
    fetch_seconds: Seconds = 300
    plan_max_retries: Annotated[int, Field(ge=0, le=50)] = 3
    pause_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    gate_score_fall_percent: Percent = 15
    gate_high_findings: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    gate_replaced_percent: Percent = 1
    gate_attempts: Count = 5
    gate_time_ratio: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 1.5


class CodeSettings(FrozenSettings):
    """Settings of `jarvis code`: the gate, a command that must succeed after a change, and its limits.

    A `git_check` of "strict" refuses to work without user.name and user.email of git. Without `static_analysis`, no
    linters are suggested. `plan` is the default of --plan. With `confirm`, a person at a terminal is asked after each
    change whether to accept it.
    """

    gate: str | None = None
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    gate_seconds: Seconds = 600
    gate_memory_mb: Megabytes = 4096
    gate_disk_mb: Megabytes = 4096
    max_mb: Megabytes = 512
    git_check: Literal["strict", "warn"] = "warn"
    static_analysis: bool = True
    plan: bool = False
    confirm: bool = False


class Settings(FrozenSettings):
    """All settings of a user; properties return the addresses to use where a setting is None.

    `central_repo` is the git URL of shared methodologies and tools; only the tools in `central_tools` are loaded.
    """

    data_dir: SettingPath = Field(default_factory=default_data_dir)
    store_url: str | None = None
    broker_url: str | None = None
    blobs_url: str | None = None
    where: Literal["local", "cluster"] | None = None
    processes: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    lease_seconds: Seconds = 30
    tick_seconds: Seconds = 2
    resend_seconds: Seconds = 60
    log_level: LogLevel = "info"
    scan: ScanSettings = ScanSettings()
    rules: RulesSettings = RulesSettings()
    cache: Cache = Cache()
    report: ReportSettings = ReportSettings()
    store: StoreSettings = StoreSettings()
    agent: AgentSettings = AgentSettings()
    sec: SecSettings = SecSettings()
    web: WebSettings = WebSettings()
    notify: NotifySettings = NotifySettings()
    c2rust: C2RustSettings = C2RustSettings()
    search: SearchSettings = SearchSettings()
    mcp: Servers = ()
    non_interactive: bool = False
    tool_group: str | None = None
    tool_groups: Mapping[str, Names] = Field(default_factory=dict)
    tool_reminder_rounds: Count = 20
    code: CodeSettings = CodeSettings()
    model_group: str | None = None
    models: Mapping[str, ModelGroup] = Field(default_factory=dict)
    central_repo: Annotated[str, Field(max_length=2000)] | None = None
    central_tools: Names = ()
    _untrusted: Mapping[str, Mapping[str, object]] = PrivateAttr(default_factory=dict)
    _scope: ScopeNotes = PrivateAttr(default=ScopeNotes())

    @property
    def untrusted(self) -> Mapping[str, Mapping[str, object]]:
        """The settings, by file and full name, that have no effect since nobody has trusted the file."""
        return self._untrusted

    def without_trust(self, untrusted: Mapping[str, Mapping[str, object]]) -> Self:
        """Return the settings with the record of those that have no effect."""
        copy = self.model_copy()
        copy._untrusted = untrusted
        return copy

    @property
    def scope(self) -> ScopeNotes:
        """What a checkout does to the scope of its scan."""
        return self._scope

    def with_scope(self, notes: ScopeNotes) -> Self:
        """Return the settings with the notes on the scope."""
        copy = self.model_copy()
        copy._scope = notes
        return copy

    @property
    def effective_store_url(self) -> str:
        return self.store_url or f"sqlite:///{self.data_dir / 'jarvis.db'}"

    @property
    def effective_blobs_url(self) -> str:
        return self.blobs_url or str(self.data_dir / "blobs")

    @property
    def place(self) -> Literal["local", "cluster"]:
        """Where runs execute: on the cluster if a broker is configured, else locally."""
        return self.where or ("cluster" if self.broker_url else "local")

    @property
    def process_count(self) -> int:
        """The number of child processes: one per available processor; 0 runs everything in the command itself."""
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return (allowed or 1) if self.processes is None else self.processes
