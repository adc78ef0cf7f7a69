"""List the newest runs with one SQL statement that both databases accept."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_workers.store.values import WorkerFacts
from jarvis_workers.words import commit_mark

Execute = Callable[[str, dict[str, object]], Sequence[Mapping[str, Any]]]
# Label keys with a value, or with None for any value.
Filters = Sequence[tuple[str, str | None]]
NOW = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "extract(epoch from clock_timestamp())",
}
WORKER_FIELDS = tuple(WorkerFacts.__dataclass_fields__)
WORKER_COLUMNS = ", ".join(f"worker.{name} AS worker_{name}" for name in WORKER_FIELDS)
# Files are counted in the first stage, excluding its plan job.
FILES = """
    SELECT coalesce(sum(job.files), 0) FROM job JOIN stage ON stage.run_id = job.run_id AND stage.name = job.stage
    WHERE job.run_id = run.id AND stage.ordinal = 0 AND job.step <> 'plan'
"""
STATEMENT = f"""
    SELECT run.id, run.kind, run.state, run.root, run.executor, run.created_at, run.options, ({FILES}) AS files,
        worker.seen_at > {{now}} - :lease_seconds AS fresh, {WORKER_COLUMNS}
    FROM run LEFT JOIN worker ON run.executor = 'local:' || worker.id
    {{filters}} ORDER BY run.created_at DESC, run.id LIMIT :limit
"""
LABELLED = "EXISTS (SELECT 1 FROM run_label WHERE run_label.run_id = run.id AND run_label.key = :key{n}{value})"
LABELS = """
    SELECT run_id, key, value FROM run_label
    WHERE run_id IN (SELECT run.id FROM run {filters} ORDER BY run.created_at DESC, run.id LIMIT :limit) ORDER BY key
"""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in the form shown in a list; `worker` is the command that executes it, or None.

    `label` is the user-defined name, `branch` and `commit` are those checked out in the tree, if known, and `mark` says
    whether other files were scanned. `created_at` is in seconds since 1970; `fresh` means that the command was seen
    within a lease.
    """

    id: str
    kind: str
    state: str
    root: str
    executor: str
    created_at: float
    files: int
    worker: WorkerFacts | None
    fresh: bool
    label: str = ""
    branch: str | None = None
    commit: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""


def newest_listed(
    execute: Execute, dialect: str, limit: int, lease_seconds: float, *, labels: Filters = ()
) -> list[ListedRun]:
    """Return the newest runs with all the labels, newest first; `execute` runs a statement with named parameters."""
    filters, values = _filters(labels)
    values["limit"] = limit
    labels_of: dict[str, dict[str, str]] = {}
    for row in execute(LABELS.format(filters=filters), values):
        labels_of.setdefault(row["run_id"], {})[row["key"]] = row["value"]
    statement = STATEMENT.format(now=NOW[dialect], filters=filters)
    rows = execute(statement, values | {"lease_seconds": lease_seconds})
    return [_listed(row, labels_of.get(row["id"], {})) for row in rows]


def _filters(labels: Filters) -> tuple[str, dict[str, object]]:
    """Return a WHERE clause for runs with these labels, or "" without labels, and its parameters."""
    parts, values = [], dict[str, object]()
    for number, (key, value) in enumerate(labels):
        compared = "" if value is None else f" AND run_label.value = :value{number}"
        parts.append(LABELLED.format(n=number, value=compared))
        values |= {f"key{number}": key} | ({} if value is None else {f"value{number}": value})
    return f"WHERE {' AND '.join(parts)}" if parts else "", values


def _listed(row: Mapping[str, Any], labels: Mapping[str, str]) -> ListedRun:
    facts = {name: row[f"worker_{name}"] for name in WORKER_FIELDS}
    options = json.loads(row["options"])
    checkout = options.get("checkout") or {}
    return ListedRun(
        id=row["id"],
        kind=row["kind"],
        state=row["state"],
        root=row["root"],
        executor=row["executor"],
        created_at=row["created_at"],
        files=int(row["files"]),
        worker=WorkerFacts(**facts) if row["worker_id"] is not None else None,
        fresh=bool(row["fresh"]),
        label=options.get("label") or "",
        branch=checkout.get("branch"),
        commit=checkout.get("commit"),
        mark=commit_mark(checkout),
        labels=labels,
    )
