"""Read the settings, and say where each came from.

A flag wins over a JARVIS_* variable, that over jarvis.yaml, that over [tool.jarvis] in pyproject.toml
(both in the directory of the command), that over the default.  What is not a setting is refused
wherever it stands, and each place is checked by itself, so that the message can name it.

In variables a section is parted by two underscores (JARVIS_SCAN__EXTENSIONS), a list by commas, and a
mapping is a=b,c=d; an empty variable counts as not set.  A secret may be read from a file
(JARVIS_STORE_URL_FILE).
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jarvis_workers.errors import SettingsError
from jarvis_workers.platforms.groups import ModelGroup, tell_problem
from jarvis_workers.ratelimit.budget import read_budget
from jarvis_workers.redact import redact
from jarvis_workers.reprs import short
from jarvis_workers.sec.sourcelinks import check_template
from jarvis_workers.telemetry import LogLevel

PREFIX = "JARVIS_"
YAML_FILE = "jarvis.yaml"
TOML_FILE = "pyproject.toml"
TOML_PLACE = "pyproject.toml [tool.jarvis]"
SECRETS = ("store_url", "broker_url", "blobs_url")
MODELS = "models"
MAPPINGS = frozenset({"rules.severity", MODELS})
READ_ELSEWHERE = frozenset({"JARVIS_DEBUG", "JARVIS_GIT_TOKEN"})
DEFAULT = "default"
TICK_SHARE = 1 / 3
FLAG = "command line"


def _listed(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def _mapped(value: object) -> object:
    if isinstance(value, str):
        parts = (part.partition("=") for part in value.split(",") if part.strip())
        return {name.strip(): said.strip() for name, _, said in parts}
    return value


def _bare(suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(suffix.removeprefix(".") for suffix in suffixes)


def _path(value: object) -> object:
    if not isinstance(value, str | Path) or not str(value):
        raise ValueError("should be a path")
    return Path(value).expanduser()


def _default_data_dir() -> Path:
    import platformdirs  # noqa: PLC0415  (slow to import, and not needed where JARVIS_DATA_DIR is set)

    return Path(platformdirs.user_data_dir("jarvis-workers"))


def _budget(text: str) -> str:
    read_budget(text)
    return text


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Suffixes = Annotated[Names, AfterValidator(_bare)]
Language = Literal["c/cpp", "rust"]
Languages = Annotated[tuple[Language, ...], BeforeValidator(_listed)]
Severities = Annotated[dict[str, Literal["high", "medium", "low"]], BeforeValidator(_mapped)]
Seconds = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Tokens = Annotated[int, Field(ge=1, le=10_000_000_000)]
Files = Annotated[int, Field(ge=1, le=1_000_000_000)]
Megabytes = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class FrozenSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ScanSettings(FrozenSettings):
    """What is scanned, and in what portions; suffixes stand without their dot, and `C` is not `c`.

    A tree of at most `small_files` is scanned without an executor; 0: none is.
    """

    extensions: Suffixes = ("c", "cpp", "h", "hpp", "rs", "cc", "cxx", "c++", "C", "hh", "hxx", "inl", "ipp", "tpp")
    languages: Languages = ("c/cpp", "rust")
    exclude_dirs: Names = (".git", "build", "out", "target", "third_party", "vendor", ".jarvis")
    use_ignore_files: bool = True
    jarvisignore_of_addresses: bool = False
    git_max_files: Files = 2_000_000
    git_max_mb: Megabytes = 50_000
    max_file_mb: Megabytes = 256
    batch_mb: Megabytes = 16
    batch_files: Count = 1000
    small_files: Annotated[int, Field(ge=0, le=1000)] = 50
    hard_limit_seconds: Seconds = 300
    file_seconds: Seconds = 10
    file_memory_mb: Megabytes = 2048


class RulesSettings(FrozenSettings):
    """Which rules there are, by id; `paths` are files or directories with rules of the project's own.

    With `learned` they are weighed as judgements of their findings suggest.
    """

    disable: Names = ()
    enable_only: Names = ()
    categories: Names = ()
    severity: Severities = Field(default_factory=dict)
    paths: Names = ()
    learned: bool = False


class Cache(FrozenSettings):
    """What this machine keeps of earlier scans; 0 is nothing."""

    max_mb: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] = 500

    @property
    def max_bytes(self) -> int:
        return int(self.max_mb * 1_000_000)


class StoreSettings(FrozenSettings):
    """How long a statement on PostgreSQL may go without an answer before its connection is given up."""

    statement_seconds: Seconds = 15


class AgentSettings(FrozenSettings):
    """How far a conversation may go (None: no limit), and directories with what is called after each tool.

    With more tools than `filter_above` the model is asked which of them it needs; what a tool says is cut to
    `output_tokens`. The `budget` is for all conversations of a run together.
    """

    rounds: Count = 60
    tokens: Tokens | None = 2_000_000
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    seconds: Seconds = 3600
    budget: Annotated[str, AfterValidator(_budget)] | None = None
    filter_above: Count = 30
    output_tokens: Annotated[int, Field(ge=100, le=1_000_000)] = 4000
    after_tool_call_cb_dirs: Names = ()


class ReportSettings(FrozenSettings):
    """What is told of what was found; `source_url` is the template of links to the source (sec/sourcelinks)."""

    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.4
    source_url: Annotated[str, AfterValidator(check_template)] | None = None


class Settings(FrozenSettings):
    """Everything a user can set; the addresses that stand for None are properties."""

    data_dir: Annotated[Path, BeforeValidator(_path)] = Field(default_factory=_default_data_dir)
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
    model_group: str | None = None
    models: Mapping[str, ModelGroup] = Field(default_factory=dict)

    @property
    def effective_store_url(self) -> str:
        return self.store_url or f"sqlite:///{self.data_dir / 'jarvis.db'}"

    @property
    def effective_blobs_url(self) -> str:
        return self.blobs_url or str(self.data_dir / "blobs")

    @property
    def place(self) -> Literal["local", "cluster"]:
        """Where runs are worked on: on the cluster as soon as there is a broker."""
        return self.where or ("cluster" if self.broker_url else "local")

    @property
    def process_count(self) -> int:
        """One for each processor that this process may use; 0: none, everything is done in the command itself."""
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return (allowed or 1) if self.processes is None else self.processes


@dataclass(frozen=True)
class Origin:
    """One setting, its value without secrets, and the place that it came from."""

    setting: str
    value: object
    source: str


@dataclass(frozen=True)
class Layer:
    """What one place sets, by full name; `strict` where values have types, unlike variables."""

    source: str
    values: Mapping[str, object]
    strict: bool = True


def load_settings(
    flags: Mapping[str, object] | None = None, *, environ: Mapping[str, str] = os.environ, directory: Path
) -> Settings:
    """Read the settings of a command that runs in `directory`.

    `flags` are by full name ("scan.languages"); None is a flag not given.  Raises SettingsError.
    """
    layers = _read_layers(flags or {}, environ, directory)
    return _settle(layers, directory)


def origins(
    flags: Mapping[str, object] | None = None, *, environ: Mapping[str, str] = os.environ, directory: Path
) -> list[Origin]:
    """List every setting with the place it came from, secrets redacted."""
    layers = _read_layers(flags or {}, environ, directory)
    settings = _settle(layers, directory)
    stand_in = {
        "store_url": settings.effective_store_url,
        "blobs_url": settings.effective_blobs_url,
        "where": settings.place,
        "processes": settings.process_count,
    }
    found = []
    for name, value in _flat(settings.model_dump(mode="json")):
        source = next((layer.source for layer in layers if name in layer.values), DEFAULT)
        shown = stand_in.get(name) if value is None else value
        found.append(Origin(name, _redacted(shown), source))
    return found


def _redacted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _redacted(inner) for name, inner in value.items()}
    return redact(value) if isinstance(value, str) else value


def _settle(layers: list[Layer], directory: Path) -> Settings:
    merged: dict[str, object] = {}
    for layer in reversed(layers):
        _check(layer)
        merged.update(layer.values)
    settings = Settings.model_validate(_nested(merged))
    _check_together(settings)
    return settings.model_copy(update={"data_dir": (directory / settings.data_dir).absolute()})


def _check_together(settings: Settings) -> None:
    """Refuse what each setting allows and their company does not."""
    most = settings.lease_seconds * TICK_SHARE
    if settings.tick_seconds > most:
        raise SettingsError(
            f'"tick_seconds" is {settings.tick_seconds:g}, should be at most {most:g}, a third of "lease_seconds"'
        )
    for name in SECRETS:
        if "\0" in (getattr(settings, name) or ""):
            raise SettingsError(f'"{name}" holds a NUL character')


def _read_layers(flags: Mapping[str, object], environ: Mapping[str, str], directory: Path) -> list[Layer]:
    given = {name: value for name, value in _flat(flags) if value is not None}
    return [
        Layer(FLAG, _known(FLAG, given)),
        *_variables(environ),
        Layer(YAML_FILE, _known(YAML_FILE, dict(_flat(_read_yaml(directory / YAML_FILE))))),
        Layer(TOML_PLACE, _known(TOML_PLACE, dict(_flat(_read_toml(directory / TOML_FILE))))),
    ]


def _names() -> list[str]:
    return [name for name, _ in _flat(Settings.model_construct().model_dump())]


def _flat(values: Mapping[Any, object], section: str = "") -> Iterator[tuple[str, object]]:
    """Give each setting its full name: {"scan": {"languages": x}} is "scan.languages"."""
    for name, value in values.items():
        full = f"{section}{name}"
        if isinstance(value, Mapping) and value and full not in MAPPINGS:
            yield from _flat(value, f"{full}.")
        else:
            yield full, value


def _nested(values: Mapping[str, object]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[last] = value
    return tree


def _known(source: str, values: Mapping[str, object]) -> Mapping[str, object]:
    names = _names()
    sections = {name.partition(".")[0] for name in names if "." in name}
    for name, value in values.items():
        if name in sections and value not in ({}, None):
            raise SettingsError(f'{source}: "{name}" is {short.repr(value)}; expected settings by name')
        if name not in names and name not in sections:
            raise SettingsError(f'{source}: unknown setting "{name}"{_meant(name, names)}')
    return {name: value for name, value in values.items() if name in names}


def _meant(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def _variables(environ: Mapping[str, str]) -> Iterator[Layer]:
    """One layer a variable, so that the place of a setting is the variable's name."""
    known = {PREFIX + name.upper().replace(".", "__"): name for name in _names()}
    files = {PREFIX + name.upper() + "_FILE": PREFIX + name.upper() for name in SECRETS}
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in READ_ELSEWHERE:
            continue
        if variable not in known and variable not in files:
            meant = _meant(variable, [*known, *files])
            raise SettingsError(f'environment: unknown setting "{variable}"{meant}')
        if not text:
            continue
        if variable in known:
            yield Layer(variable, {known[variable]: text}, strict=False)
        elif environ.get(files[variable]):
            raise SettingsError(f"{variable}: {files[variable]} is set as well; unset one of them")
        else:
            yield Layer(variable, {known[files[variable]]: _read_secret(variable, text)}, strict=False)


def _read_secret(variable: str, path: str) -> str:
    secret = _read(Path(path), f'{variable}: "{path}"').strip()
    if not secret:
        raise SettingsError(f'{variable}: "{path}" is empty')
    return secret


def _read(path: Path, label: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{label} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{label} is not UTF-8 (byte {error.start})") from error


def _read_yaml(path: Path) -> Mapping[Any, object]:
    if not os.access(path, os.F_OK):
        return {}
    import yaml  # noqa: PLC0415  (slow to import, and most directories have no such file)

    from jarvis_workers.yamlloader import UniqueKeys  # noqa: PLC0415

    try:
        found = yaml.load(_read(path, YAML_FILE), UniqueKeys)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise SettingsError(f"{YAML_FILE}:{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{YAML_FILE}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SettingsError(f"{YAML_FILE}: is {short.repr(found)}; expected settings by name")
    return found


def _read_toml(path: Path) -> Mapping[str, object]:
    if not os.access(path, os.F_OK):
        return {}
    try:
        tool = tomllib.loads(_read(path, TOML_FILE)).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{TOML_FILE}: {error}") from error
    found = tool.get("jarvis", {}) if isinstance(tool, dict) else {}
    if not isinstance(found, dict):
        raise SettingsError(f"{TOML_PLACE}: is {short.repr(found)}; expected settings by name")
    return found


def _check(layer: Layer) -> None:
    try:
        Settings.model_validate(_nested(layer.values), strict=layer.strict)
    except ValidationError as error:
        every = error.errors(include_url=False, include_input=False)
        wrong = next((one for one in every if one["type"] == "extra_forbidden"), every[0])
        place = ".".join(map(str, wrong["loc"])) + "."
        name = next(known for known in _names() if place.startswith(f"{known}."))
        if name == MODELS:
            raise SettingsError(f"{layer.source}: {tell_problem(wrong, layer.values[name])}") from error
        got = f"a {type(layer.values[name]).__name__}" if name in SECRETS else short.repr(layer.values[name])
        should = wrong["msg"].removeprefix("Input ").removeprefix("Value error, ")
        where = "" if layer.source.startswith(PREFIX) else f' "{name}"'
        raise SettingsError(f"{layer.source}:{where} is {got}, {should}") from error
