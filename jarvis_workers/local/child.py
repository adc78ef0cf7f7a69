"""A child that decides jobs, one at a time, for a command on this machine.

The first line it reads says where the blobs are, each further line is a job.  It never opens
the store.  `cpu_seconds` of an answer is all CPU since the last one, the start included, so
that the sum over its jobs is what the child has cost.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from jarvis_workers.errors import StoreFull
from jarvis_workers.pipeline.stages import step_of
from jarvis_workers.pipeline.wire import decode_work, encode_commit, to_line
from jarvis_workers.snapshots.resources import Resources, open_resources
from jarvis_workers.toolchain.limits import cpu_seconds


def serve(lines: Iterable[bytes], answers: IO[bytes]) -> None:
    """Answer each line of work with a line."""
    requests = iter(lines)
    where = json.loads(next(requests))
    limit = int(where.get("results_bytes", 0))
    resources = open_resources(where["blobs"], Path(where["cache"]), results_bytes=limit)
    spent = 0.0
    for line in requests:
        answer = decide(json.loads(line), resources)
        total = cpu_seconds()
        answers.write(to_line({**answer, "cpu_seconds": total - spent}) + b"\n")
        answers.flush()
        spent = total


def decide(request: dict[str, Any], resources: Resources) -> dict[str, Any]:
    """Do one job. This is a task boundary: whatever it raises is recorded on the job's row."""
    try:
        step = step_of(request["module"])
        commit = step.decide(decode_work(step, request["work"]), resources)
    except StoreFull as full:
        return {"job": request["job"], "full": str(full)}
    except Exception as error:  # noqa: BLE001  (the task boundary)
        return {"job": request["job"], "error": f"{type(error).__name__}: {error}"}
    return {"job": request["job"], "commit": encode_commit(commit)}


def main() -> None:
    """Serve standard input; what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except (BrokenPipeError, StopIteration, KeyboardInterrupt):
        os._exit(0)


if __name__ == "__main__":
    main()
