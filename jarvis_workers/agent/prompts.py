"""The texts that a model is given: templates beside this file, filled in; a missing variable is an error."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"


def fill(name: str, **values: Any) -> str:
    """Return the text of a template; raises jinja2.UndefinedError for a variable that was not given."""
    return str(_templates().get_template(f"{name}.md").render(**values)).strip()


@cache
def _templates() -> Any:
    jinja2 = import_module("jinja2")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
