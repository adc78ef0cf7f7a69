"""A toy domain: count the lines of each file, then add them up. No other package depends on it.

The kind "toy.lines" is an entry point in tests/support/plugins; the domain has its own table, options and results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import sqlalchemy as sa

from jarvis_workers.paths import as_text, from_text
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.pipeline.stages import CONTROL_QUEUE, RunKind, Stage
from jarvis_workers.store.domain_results import register_result

if TYPE_CHECKING:
    from sqlmodel import Session

KIND = "toy.lines"
MISSING = "file was not counted", "files were not counted"
STAGES = (
    Stage(
        "count", module="tests.toy.count", queue="scan", units="batches", missing=MISSING, warm_up="tests.toy:warm_up"
    ),
    Stage("total", module="tests.toy.total", queue=CONTROL_QUEUE, on_open="tests.toy:drop_small_files", optional=True),
)
COUNTING = RunKind(KIND, STAGES, output="tests.toy.lines", result="tests.toy.lines")
LINES = sa.Table(
    "toy_lines",
    sa.MetaData(),
    sa.Column("run_id", sa.String, primary_key=True),
    sa.Column("path", sa.LargeBinary, primary_key=True),
    sa.Column("lines", sa.Integer),
)


@dataclass(frozen=True, kw_only=True)
class ToyOptions(RunOptions):
    """Options of a toy run; files with fewer than `least` lines are ignored."""

    least: int = 0


class LineCounts(NamedTuple):
    """Line counts: pairs of path and number of lines."""

    files: tuple[tuple[bytes, int], ...]

    def counts(self) -> Mapping[str, int]:
        return {"lines": sum(lines for _, lines in self.files)}

    def encode(self) -> Any:
        return [(as_text(path), lines) for path, lines in self.files]

    @classmethod
    def decode(cls, content: Sequence[Any]) -> Self:
        return cls(tuple((from_text(path), lines) for path, lines in content))


register_result("toy.lines", LineCounts, writer="tests.toy:write_lines")


WARM: list[str] = []


def warm_up() -> None:
    """Record that a worker process has warmed up."""
    WARM.append(KIND)


def write_lines(session: "Session", run_id: str, _: int, result: LineCounts) -> None:
    """Insert the line counts of a job."""
    rows = [{"run_id": run_id, "path": path, "lines": lines} for path, lines in result.files]
    if rows:
        session.execute(sa.insert(LINES), rows)


def drop_small_files(session: "Session", run: Any) -> None:
    """Delete the files that are ignored, before the counts are added up."""
    small = (LINES.c.run_id == run.id) & (LINES.c.lines < ToyOptions.of(run).least)
    session.execute(sa.delete(LINES).where(small))
