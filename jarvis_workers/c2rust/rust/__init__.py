"""Rust and C code for crates, as template files beside this module; `$name` is a placeholder."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def rust_text(name: str) -> str:
    """Return the text of a file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def rust_template(name: str, **values: str) -> str:
    """Return the text of a template of this package with all its placeholders filled in."""
    return Template(rust_text(name)).substitute(values)
