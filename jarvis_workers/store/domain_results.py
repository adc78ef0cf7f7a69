"""The registry of domain results: the serialization of each type, and the function that writes it to tables.

A domain registers its types where it defines them. Types are looked up by name, and a name received from a child
process is never imported: a compromised child cannot choose what its parent imports.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jarvis_workers.errors import StepFailed
from jarvis_workers.store.values import DomainResult

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

Writer = Callable[["Session", str, int, Any], None]


class ResultType(NamedTuple):
    """A registered type; `writer` names a function as "package.module:function", imported when commits are saved."""

    name: str
    type: type[DomainResult]
    writer: str


_BY_NAME: dict[str, ResultType] = {}
_BY_TYPE: dict[type[DomainResult], ResultType] = {}
_WRITERS: dict[str, Writer] = {}


def register_result(name: str, result: type[DomainResult], *, writer: str) -> None:
    """Register a type of result under a name. Raises ValueError if the name is registered for another type.

    The writer is called with the session, the ids of run and job, and the result, in the transaction of the commit.
    """
    added = ResultType(name, result, writer)
    if _BY_NAME.setdefault(name, added) != added:
        raise ValueError(f'two results are registered as "{name}"')
    _BY_TYPE[result] = added


def write_results(session: "Session", run_id: str, job_id: int, results: Iterable[DomainResult]) -> None:
    """Insert the results of a job into the tables of its domain."""
    for result in results:
        _writer(_BY_TYPE[type(result)].writer)(session, run_id, job_id, result)


def encode_results(results: Sequence[DomainResult]) -> list[tuple[str, Any]]:
    """Return results in JSON form, as pairs of name and content."""
    return [(_BY_TYPE[type(result)].name, result.encode()) for result in results]


def decode_results(encoded: Iterable[Sequence[Any]]) -> tuple[DomainResult, ...]:
    """Decode the output of `encode_results`. Raises StepFailed for an unregistered name."""
    return tuple(_type(name).decode(content) for name, content in encoded)


def count_results(results: Iterable[DomainResult]) -> dict[str, int]:
    """Return the number of rows by kind, for the log."""
    counts = Counter[str]()
    for result in results:
        counts.update(result.counts())
    return dict(counts)


def _type(name: str) -> type[DomainResult]:
    if name not in _BY_NAME:
        raise StepFailed(f"a result of unknown type {name!r}")
    return _BY_NAME[name].type


def _writer(name: str) -> Writer:
    if name not in _WRITERS:
        module, _, function = name.partition(":")
        _WRITERS[name] = cast(Writer, getattr(importlib.import_module(module), function))
    return _WRITERS[name]
