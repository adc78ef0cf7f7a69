"""Check the prerequisites of agents: a model, and a sandbox for commands.

Scans without agents need neither, so no result here is a failure.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from jarvis_workers.errors import JarvisError
from jarvis_workers.models.platforms.groups import ModelGroup, all_groups
from jarvis_workers.redact import redact
from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.runs.models import model_name
from jarvis_workers.settings import Settings

NO_MODEL = "none; only agents need one: set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL, or models in jarvis.yaml"
NO_SANDBOX = "agents cannot run commands here, and jarvis c2rust builds no project; see docs/sandbox.md"


class SandboxFacts(NamedTuple):
    """For each tier, why it is refused, or None if it works; how memory, processes and disk are limited."""

    refusals: Mapping[str, str | None]
    allotments: Mapping[str, str]


def examine_agents(
    settings: Settings, probe: Callable[[], SandboxFacts], environ: Mapping[str, str] = os.environ
) -> list[Check]:
    """Check the model and the sandbox. `probe` tests the sandbox, which takes some time."""
    groups = all_groups(settings.models, environ)
    model = _model(settings, groups, environ) if groups else Check("model", "ok", NO_MODEL)
    return [model, *_sandbox(probe())]


def _model(settings: Settings, groups: Mapping[str, ModelGroup], environ: Mapping[str, str]) -> Check:
    try:
        name = model_name(settings, None, environ)
        groups[name].key(environ)
    except JarvisError as error:
        return Check("model", "warn", str(error), "agents cannot run until then")
    return Check("model", "ok", f"{groups[name].model} at {redact(groups[name].base_url)} (group {name})")


def _sandbox(facts: SandboxFacts) -> Iterator[Check]:
    works = next((tier for tier, why in facts.refusals.items() if why is None), None)
    if works is None:
        yield Check("sandbox", "warn", "; ".join(str(why) for why in facts.refusals.values()), NO_SANDBOX)
        return
    yield Check("sandbox", "ok", f"tier {works}")
    for what, how in facts.allotments.items():
        yield Check("sandbox", "ok", f"{what} {how}")
