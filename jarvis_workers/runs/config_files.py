"""Create jarvis.yaml with a model group. An API key is never written: the file names the variable that contains it."""

import re
from pathlib import Path

import yaml
from pydantic import ValidationError

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import UsageError
from jarvis_workers.models.platforms.groups import ModelGroup
from jarvis_workers.reprs import short

GROUP = "default"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
HEAD = "# Settings of jarvis; see: jarvis config show\n"


def model_settings(model: str, base_url: str | None, key_env: str | None) -> str:
    """Return the text of a jarvis.yaml with one model group. Raises UsageError for a value that cannot be used."""
    if key_env and not VARIABLE.fullmatch(key_env):
        raise UsageError("the key variable should be the name of an environment variable, such as OPENAI_API_KEY")
    group = {"model": model, "base_url": base_url or None, "api_key_env": key_env or None}
    facts = {name: value for name, value in group.items() if value is not None}
    try:
        ModelGroup.model_validate(facts)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        name, says = str(wrong["loc"][0]), requirement(wrong)
        raise UsageError(f"{name} is {short.repr(facts.get(name))}, {says}") from error
    document = {"model_group": GROUP, "models": {GROUP: facts}}
    return HEAD + yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def create_file(path: Path, text: str) -> None:
    """Write a new file; an existing one is never overwritten. Raises UsageError."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists; change it with: jarvis config edit") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
