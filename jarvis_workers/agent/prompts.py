"""The texts that a model is given: templates in a folder, filled in; a missing variable is an error."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"


def fill(name: str, **values: Any) -> str:
    """Return the text of a template beside this file; raises jinja2.UndefinedError for a variable not given."""
    return fill_from(FOLDER, name, **values)


def fill_from(folder: Path, name: str, **values: Any) -> str:
    """Return the text of a template of a folder."""
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
