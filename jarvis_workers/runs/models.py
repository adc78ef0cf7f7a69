"""The models configured by a user: by name, and with API keys for the processes that call them."""

import os
from collections.abc import Mapping
from typing import Any

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.extras import require
from jarvis_workers.models.platforms.groups import ModelGroup, all_groups, choose_group
from jarvis_workers.settings import Settings
from jarvis_workers.settings.trust import MODELS, REMEDY

NO_MODEL = "no model is set: run jarvis config init, or set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL"


def model_name(settings: Settings, name: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of the selected model group. Raises SettingsError, and UsageError if there is none."""
    chosen = name or settings.model_group
    left_out = untrusted_groups(settings)
    if chosen in left_out and chosen not in all_groups(settings.models, environ):
        raise UsageError(left_out[chosen])
    group = choose_group(settings.models, chosen, environ)
    if group is None:
        why = "several model groups are set: choose one with -g, or model_group in jarvis.yaml"
        if not settings.models:
            why = next(iter(left_out.values()), NO_MODEL)
        raise UsageError(why)
    require("agents", "an agent")
    return group


def untrusted_groups(settings: Settings) -> dict[str, str]:
    """Return the model groups that have no effect since nobody has trusted their file, with what to do."""
    found: dict[str, str] = {}
    for file, values in settings.untrusted.items():
        groups = values.get(MODELS)
        if isinstance(groups, Mapping):
            found = dict.fromkeys(groups, f"no model is set: those of {file} need trust; {REMEDY}") | found
    return found


def models_are_set(settings: Settings, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether any model is configured."""
    return bool(all_groups(settings.models, environ))


def model_facts(settings: Settings, environ: Mapping[str, str] = os.environ) -> dict[str, dict[str, Any]]:
    """Return all groups as JSON data including API keys, which may only be written to a pipe of a child."""
    return {name: _facts(group, environ) for name, group in all_groups(settings.models, environ).items()}


def model_group(settings: Settings, name: str) -> ModelGroup:
    """Return a group with its key."""
    return ModelGroup.model_validate(model_facts(settings)[name])


def _facts(group: ModelGroup, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return a group with its API key; a missing key is reported when the model is called."""
    facts = group.model_dump(mode="json")
    try:
        key = group.key(environ)
    except SettingsError:
        return facts
    return facts | {"api_key": key or None, "api_key_env": None, "api_key_file": None}
