"""A project's own models of functions: allocators, releases, owners, and what functions return.

Rows are those of rule files (`mode: model`), validated before they get here. A model replaces the body of a function.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

KINDS = ("allocates", "releases", "takes", "never_returns", "may_return_null")


class FunctionModels(NamedTuple):
    """The names of functions by what they do: see docs/own-rules.md."""

    allocates: frozenset[str] = frozenset()
    releases: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    never_returns: frozenset[str] = frozenset()
    may_return_null: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*self)


NO_MODELS = FunctionModels()


def function_models(rows: Iterable[Mapping[str, Any]]) -> FunctionModels:
    """Return the models of all rows."""
    rows = tuple(rows)
    return FunctionModels(*(frozenset(name for row in rows for name in row.get(kind, ())) for kind in KINDS))
