"""Read the subset of the Compose specification that docker-compose.yml uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(r"\$(?:\$|\{(\w+):-([^}]*)\})")


@dataclass(frozen=True)
class Service:
    """A service; its attributes as the file has them, with variables filled in."""

    name: str
    facts: Mapping[str, Any]

    @property
    def is_ours(self) -> bool:
        return str(self.facts["image"]).startswith("jarvis-workers:")

    @property
    def command(self) -> list[str]:
        return list(self.facts.get("command", ()))

    @property
    def environ(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.facts.get("environment", {}).items()}

    @property
    def ports(self) -> list[int]:
        """The ports that other services reach."""
        return [int(port) for port in self.facts.get("expose", ())]

    @property
    def mounts(self) -> list[tuple[str | None, str]]:
        """The name or path of each volume (None: anonymous), and where it is in the container."""
        parts = [str(volume).split(":") for volume in self.facts.get("volumes", ())]
        return [(words[0], words[1]) if len(words) > 1 else (None, words[0]) for words in parts]

    @property
    def scratch(self) -> list[str]:
        return [str(mount).partition(":")[0] for mount in self.facts.get("tmpfs", ())]

    @property
    def secrets(self) -> list[str]:
        return list(self.facts.get("secrets", ()))

    @property
    def conditions(self) -> dict[str, str]:
        """The services that this one waits for, and for what."""
        return {name: about["condition"] for name, about in self.facts.get("depends_on", {}).items()}

    @property
    def check(self) -> list[str]:
        """The command of the health check; empty if it has none."""
        health = self.facts.get("healthcheck", {})
        return [] if health.get("disable") else list(health.get("test", ()))


def read_compose(environ: Mapping[str, str], file: Path = COMPOSE_FILE) -> dict[str, Any]:
    """Return the file with its variables filled in: ${NAME:-default}, and $$ for a dollar."""
    return dict(_filled(yaml.safe_load(file.read_text()), environ))


def services(environ: Mapping[str, str], profiles: set[str] | None = None) -> dict[str, Service]:
    """Return the services that these profiles start, or all."""
    found = {name: Service(name, facts) for name, facts in read_compose(environ)["services"].items()}
    if profiles is None:
        return found
    wanted = {name for name, one in found.items() if set(one.facts.get("profiles", profiles)) & profiles}
    return {name: found[name] for name in found if name in wanted or "profiles" not in found[name].facts}


def variables() -> dict[str, str]:
    """Return the variables of the file with their defaults."""
    text = re.sub(r"^ *#.*$", "", COMPOSE_FILE.read_text(), flags=re.MULTILINE)
    return {name: default for name, default in VARIABLE.findall(text) if name}


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, environ) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, environ) for inner in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda found: environ.get(found[1]) or found[2] if found[1] else "$", value)
    return value
