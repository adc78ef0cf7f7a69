"""Names of runs: a command repeated with the same name continues its run and submits no other.

A name belongs to one request, identified by a hash; the same name with another request is an error. Sizes of batches
and the number of processes differ between machines, and are left out; so are the methodologies that an agent gets, and
the form and the target of the result.
"""

import hashlib
import json
import os
import re
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.runs.sources import is_address
from jarvis_workers.store import run_names, runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
SHOWN_MAX = 80
OF_THE_MACHINE = frozenset({"batch_bytes", "batch_files", "methodologies", "processes", "remark"})
OF_DELIVERY = frozenset({"output", "output_format", "fail_on", "relative_to"})


class NameTaken(UsageError):
    """Another command has just submitted a run with this name."""


@dataclass(frozen=True)
class RunName:
    """The name of a run to submit, and the hash of its request."""

    name: str
    request_hash: str


def check_name(name: str) -> str:
    """Return a name given by a user. Raises UsageError."""
    if not NAME.fullmatch(name):
        shown = plain(name if len(name) <= SHOWN_MAX else f"{name[:SHOWN_MAX]}…")
        raise UsageError(f'--name: "{shown}" should consist of at most 63 letters, digits, "-", "_" and "."')
    return name


def name_over_source(
    name: str | None, settings: "Settings", path: str, options: RunOptions, **facts: Any
) -> RunName | None:
    """Return the name of a run over a project with the hash of its request, None if it has no name."""
    if name is None:
        return None
    source = path if is_address(path) else os.path.realpath(path)
    return RunName(check_name(name), request_hash(options, where=settings.place, source=source, **facts))


def request_hash(options: RunOptions, **facts: Any) -> str:
    """Return the hash of a request: its facts, and the options whose values differ from the defaults."""
    usual = {one.name for one in fields(options) if getattr(options, one.name) == _default(one)}
    selection = {
        name: value for name, value in options.encode().items() if name not in OF_THE_MACHINE | OF_DELIVERY | usual
    }
    return hashlib.sha256(json.dumps([selection, facts], sort_keys=True, default=str).encode()).hexdigest()


def _default(field: "Field[Any]") -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def find_named(store: Store, name: RunName) -> Run | None:
    """Return the run with this name, or None if there is none. Raises UsageError if it is that of another request."""
    with store.read() as session:
        entries = run_names.find(session, name.name)
        run = runs.get(session, entries.run_id) if entries else None
    if run is None or entries is None:
        return None
    if entries.request_hash != name.request_hash:
        raise UsageError(
            f'--name: "{name.name}" belongs to run {run.id}, which has another source or other options; '
            "choose another name"
        )
    return run
