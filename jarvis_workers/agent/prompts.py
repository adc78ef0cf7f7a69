"""Prompt templates, which are text files in a directory; a missing variable is an error."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"


def fill(name: str, **values: Any) -> str:
    """Render the agent prompt template `name`; raises jinja2.UndefinedError for a missing variable."""
    return fill_from(FOLDER, name, **values)


def fill_from(folder: Path, name: str, **values: Any) -> str:
    """Render the template `name` of a directory; raises jinja2.UndefinedError for a missing variable."""
    return str(_templates(folder).get_template(f"{name}.md").render(**values)).strip()


@cache
def _templates(folder: Path) -> Any:
    jinja2 = import_module("jinja2")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
