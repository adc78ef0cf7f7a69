"""Prompt templates, which are text files in a directory; a missing variable is an error."""

from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "prompts"


def fill(name: str, **values: Any) -> str:
    """Render the agent prompt template `name`, as `fill_from` does."""
    return fill_from(FOLDER, name, **values)


def fill_from(folder: Path, name: str, **values: Any) -> str:
    """Render the template `name` of a directory, in the `language` among the values if there is a translation.

    Raises jinja2.UndefinedError for a missing variable.
    """
    names = [f"{name}.{values.get('language', 'en')}.md", f"{name}.md"]
    return str(_templates(folder).select_template(names).render(**values)).strip()


@cache
def _templates(folder: Path) -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
