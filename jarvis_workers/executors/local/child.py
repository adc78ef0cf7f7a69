"""A child process of the local executor, which decides one job at a time.

The first line on standard input is the location of the blobs and the cache, each further line a job.  The child never
opens the store.  `cpu_seconds` of an answer is the CPU time since the previous answer, or since the start of the
process, so that the sum over all jobs is the total CPU time of the child.
"""

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from jarvis_workers.pipeline.attempt import attempt_without_store
from jarvis_workers.pipeline.stages import step_of
from jarvis_workers.pipeline.wire import decode_work, encode_outcome, to_line
from jarvis_workers.snapshots.resources import Resources, open_resources
from jarvis_workers.store.values import Commit
from jarvis_workers.toolchain.limits import cpu_seconds


def serve(lines: Iterable[bytes], answers: IO[bytes]) -> None:
    """Decide the job of each line, and write one answer line per job."""
    requests = iter(lines)
    where = json.loads(next(requests))
    limit = int(where.get("results_bytes", 0))
    resources = open_resources(where["blobs"], Path(where["cache"]), results_bytes=limit)
    spent = 0.0
    for line in requests:
        request = json.loads(line)
        outcome = attempt_without_store(partial(_decide, request, resources))
        total = cpu_seconds()
        answer = {"job": request["job"], **encode_outcome(outcome), "cpu_seconds": total - spent}
        answers.write(to_line(answer) + b"\n")
        answers.flush()
        spent = total


def _decide(request: dict[str, Any], resources: Resources) -> Commit:
    step = step_of(request["module"])
    return step.decide(decode_work(step, request["work"]), resources)


def main() -> None:
    """Serve standard input; redirect the output of libraries to standard error.

    The process exits without freeing its caches object by object, which would take up to a second of CPU time.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError, StopIteration, KeyboardInterrupt):
        serve(sys.stdin.buffer, answers)
    os._exit(0)


if __name__ == "__main__":
    main()
