"""Load the settings from their sources (flags, variables, jarvis.yaml, pyproject.toml), as layers of values by name."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import SettingsError
from jarvis_workers.models.platforms.groups import describe_problem
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.reprs import short
from jarvis_workers.settings.mcp_servers import describe_fault
from jarvis_workers.settings.schema import Settings
from jarvis_workers.settings.trust import FILE_BYTES, MODELS, is_trusted, restricted_values

SECTION = re.compile(r"(?:JARVIS_)?[A-Za-z0-9]+?(?:__|\.)")
PREFIX = "JARVIS_"
YAML_FILE = "jarvis.yaml"
TOML_FILE = "pyproject.toml"
TOML_PLACE = "pyproject.toml [tool.jarvis]"
# The files of a directory by the source of their settings.
FILES = {YAML_FILE: YAML_FILE, TOML_PLACE: TOML_FILE}
SECRETS = ("store_url", "broker_url", "blobs_url", "notify.webhook_url")
SERVERS = "mcp"
MAPPINGS = frozenset({"rules.severity", "tool_groups", MODELS, SERVERS})
# The variable that names the file whose settings decide what is scanned, whatever a checkout says.
TRUSTED_CONFIG = "JARVIS_TRUSTED_CONFIG"
READ_ELSEWHERE = frozenset(
    {TRUSTED_CONFIG, "JARVIS_DEBUG", "JARVIS_GIT_TOKEN", "JARVIS_GIT_TOKEN_FILE", "JARVIS_GIT_USER"}
    | {"JARVIS_GIT_SSH_KEY_FILE", "JARVIS_GIT_SSH_KNOWN_HOSTS_FILE"}
    # Variables of `c2rust order`, of `c2rust cc`, and of the programs that it builds.
    | {"JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS", "JARVIS_C2RUST_DELAY_ENTRIES"}
    | {f"JARVIS_C2RUST_{name}" for name in ("CC", "RECORD", "RECORDED", "ROOT", "CACHE")}
    | {f"JARVIS_C2RUST_{name}" for name in ("LIBRARY", "RUST", "TRAP", "TRACE", "LOG")}
)
FLAG = "command line"
TICK_SHARE = 1 / 3


@dataclass(frozen=True)
class Layer:
    """The settings from one source, by full name; `strict` if its values are typed, unlike environment variables.

    `untrusted` are those that need trust and have no effect, since nobody has trusted their file. `file` is the
    YAML file that they come from.
    """

    source: str
    values: Mapping[str, object]
    strict: bool = True
    untrusted: Mapping[str, object] = field(default_factory=dict)
    file: Path | None = None

    def place_of(self, position: Sequence[str | int]) -> str:
        """Return the source, with the line of a value in its file."""
        return _place(self.source, self.file, position)

    def without(self, untrusted: Mapping[str, object]) -> "Layer":
        """Return the layer without the effect of these settings."""
        rest = {name: value for name, value in self.values.items() if name not in untrusted}
        return replace(self, values=rest, untrusted=untrusted)

    @property
    def written(self) -> Mapping[str, object]:
        """All values of the source."""
        return {**self.values, **self.untrusted}


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    directory: Path,
    file: Path | None = None,
) -> Settings:
    """Load the settings of a command that runs in `directory`; `file` takes precedence over its files.

    `flags` maps full names ("scan.languages") to values; None means that a flag was not given. Settings of files in
    `directory` that need trust have an effect only if a person has trusted the file. Raises SettingsError.
    """
    layers = read_layers(flags or {}, environ, directory, file)
    return settle(layers, directory)


def settle(layers: list[Layer], directory: Path) -> Settings:
    """Merge the layers, the strongest first. Raises SettingsError."""
    merged: dict[str, object] = {}
    for layer in reversed(layers):
        _check(layer)
        merged.update(layer.values)
    settings = Settings.model_validate(nested(merged))
    _check_together(settings)
    settings = settings.model_copy(update={"data_dir": (directory / settings.data_dir).absolute()})
    return settings.without_trust(without_effect(layers))


def _check_together(settings: Settings) -> None:
    """Reject invalid combinations of settings that are valid individually."""
    most = settings.lease_seconds * TICK_SHARE
    if settings.tick_seconds > most:
        raise SettingsError(
            f'"tick_seconds" is {settings.tick_seconds:g}, should be at most {most:g}, a third of "lease_seconds"'
        )
    for name in SECRETS:
        if "\0" in (attrgetter(name)(settings) or ""):
            raise SettingsError(f'"{name}" contains a NUL character')


def _check(layer: Layer) -> None:
    try:
        Settings.model_validate(nested(layer.written), strict=layer.strict)
    except ValidationError as error:
        every = error.errors(include_url=False, include_input=False)
        wrong = next((one for one in every if one["type"] == "extra_forbidden"), every[0])
        place = ".".join(map(str, wrong["loc"])) + "."
        name = next(setting for setting in setting_names() if place.startswith(f"{setting}."))
        source = layer.place_of(wrong["loc"])
        if name == SERVERS:
            raise SettingsError(f"{source}: {describe_fault(wrong['loc'], wrong)}") from error
        if name == MODELS:
            raise SettingsError(f"{source}: {describe_problem(wrong, layer.written[name])}") from error
        got = f"a {type(layer.written[name]).__name__}" if name in SECRETS else short.repr(layer.written[name])
        where = "" if layer.source.startswith(PREFIX) else f' "{name}"'
        raise SettingsError(f"{source}:{where} is {got}, {requirement(wrong)}") from error


def without_effect(layers: Sequence[Layer]) -> dict[str, Mapping[str, object]]:
    """Return the settings that need trust and have no effect, by their file, unless a stronger source sets them."""
    found: dict[str, Mapping[str, object]] = {}
    for position, layer in enumerate(layers):
        stronger = {name for other in layers[:position] for name in other.values}
        if names := {name: value for name, value in layer.untrusted.items() if name not in stronger}:
            found[FILES[layer.source]] = names
    return found


def read_layers(
    flags: Mapping[str, object], environ: Mapping[str, str], directory: Path, file: Path | None = None
) -> list[Layer]:
    options = {name: value for name, value in flat(flags) if value is not None}
    own = [Layer(FLAG, _check_names(FLAG, options)), *_variables(environ), *(_named_file(file) if file else ())]
    yaml, toml = directory / YAML_FILE, directory / TOML_FILE
    found = [
        Layer(YAML_FILE, _check_names(YAML_FILE, dict(flat(_read_yaml(yaml))), yaml), file=yaml),
        Layer(TOML_PLACE, _check_names(TOML_PLACE, dict(flat(_read_toml(toml))))),
    ]
    restricted = [restricted_values(layer.values, directory) for layer in found]
    return own + [
        layer if not names or is_trusted(path, environ) else layer.without(names)
        for layer, names, path in zip(found, restricted, (yaml, toml), strict=True)
    ]


def _named_file(file: Path) -> Iterator[Layer]:
    if not file.exists():
        raise SettingsError(f"{plain(str(file))}: no such file")
    yield Layer(file.name, _check_names(file.name, dict(flat(_read_yaml(file))), file), file=file)


def setting_names() -> list[str]:
    return [name for name, _ in flat(Settings.model_construct().model_dump())]


def flat(values: Mapping[Any, object], section: str = "") -> Iterator[tuple[str, object]]:
    """Yield each setting with its full name: {"scan": {"languages": x}} becomes "scan.languages"."""
    for name, value in values.items():
        full = f"{section}{name}"
        if isinstance(value, Mapping) and value and full not in MAPPINGS:
            yield from flat(value, f"{full}.")
        else:
            yield full, value


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in values.items():
        section, _, last = name.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[last] = value
    return tree


def _check_names(source: str, values: Mapping[str, object], file: Path | None = None) -> Mapping[str, object]:
    """Return the values with the names of settings; `file` is the YAML file that they come from."""
    names = setting_names()
    sections = {name.partition(".")[0] for name in names if "." in name}
    for name, value in values.items():
        if name in sections and value not in ({}, None):
            place = _place(source, file, [name])
            raise SettingsError(
                f'{place}: "{name}" is {short.repr(value)}; expected a mapping of setting names to values'
            )
        if name not in names and name not in sections:
            place = _place(source, file, str(name).split("."))
            raise SettingsError(f'{place}: unknown setting "{name}"{_suggestion(name, names)}')
    return {name: value for name, value in values.items() if name in names}


def _place(source: str, file: Path | None, position: Sequence[str | int]) -> str:
    if file is None:
        return source
    import yaml  # noqa: PLC0415  (slow to import, and only needed for an error)

    from jarvis_workers.yamlloader import UniqueKeys, line_of  # noqa: PLC0415

    return f"{source}:{line_of(yaml.compose(_read(file, source), UniqueKeys), position)}"


def _suggestion(name: str, names: Sequence[str]) -> str:
    """Return the nearest name, in the nearest section: a slip there does not lead to a name in another one."""
    section = _section(name)
    nearest = next(iter(get_close_matches(section, {_section(one) for one in names}, n=1)), "") if section else ""
    settings = [one.removeprefix(nearest) for one in names if one.startswith(nearest)]
    close = get_close_matches(name.removeprefix(section) if nearest else name, settings, n=1)
    others = ["…"] if nearest and nearest != section else []
    return f' (did you mean "{nearest}{[*close, *others][0]}"?)' if close or others else ""


def _section(name: str) -> str:
    """Return the section of a setting or variable with what follows it, such as "scan."; "" if it is in none."""
    match = SECTION.match(name)
    return match[0] if match else ""


def _variables(environ: Mapping[str, str]) -> Iterator[Layer]:
    """Yield one layer per variable, so that the source of a setting is the name of the variable."""
    names = {PREFIX + name.upper().replace(".", "__"): name for name in setting_names()}
    files = {f"{variable}_FILE": variable for variable, name in names.items() if name in SECRETS}
    for variable, text in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in READ_ELSEWHERE:
            continue
        if variable not in names and variable not in files:
            hint = _suggestion(variable, [*names, *files])
            raise SettingsError(f'environment: unknown setting "{variable}"{hint}')
        if not text:
            continue
        if variable in names:
            yield Layer(variable, {names[variable]: text}, strict=False)
        elif environ.get(files[variable]):
            raise SettingsError(f"{variable}: {files[variable]} is set as well; unset one of them")
        else:
            yield Layer(variable, {names[files[variable]]: _read_secret(variable, text)}, strict=False)


def _read_secret(variable: str, path: str) -> str:
    secret = _read(Path(path), f'{variable}: "{path}"').strip()
    if not secret:
        raise SettingsError(f'{variable}: "{path}" is empty')
    return secret


def _read(path: Path, label: str) -> str:
    try:
        content = read_regular(path, FILE_BYTES)
        if len(content) > FILE_BYTES:
            raise SettingsError(f"{label} is larger than {FILE_BYTES:,} bytes")
        return content.decode("utf-8")
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
        document = yaml.load(_read(path, path.name), UniqueKeys)  # noqa: S506  a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise SettingsError(f"{path.name}:{line}: {error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path.name}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise SettingsError(f"{path.name} is {short.repr(document)}; expected a mapping of setting names to values")
    return document


def _read_toml(path: Path) -> Mapping[str, object]:
    if not os.access(path, os.F_OK):
        return {}
    try:
        tool = tomllib.loads(_read(path, TOML_FILE)).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{TOML_FILE}: {error}") from error
    table = tool.get("jarvis", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{TOML_PLACE} is {short.repr(table)}; expected a mapping of setting names to values")
    return table
