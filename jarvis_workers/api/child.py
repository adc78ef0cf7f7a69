"""A child process of the Python API that executes complete scans of small trees, one after the other.

Each line of its input names a file with a request. It answers with lines: progress, then the result, an error of the
caller, or a notice that the tree is too large. The child opens no store, and ends with its parent.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from jarvis_workers.api.answers import answer_of
from jarvis_workers.api.options import decode_options
from jarvis_workers.api.requests import BATCH_BYTES, BATCH_FILES, request_of
from jarvis_workers.errors import JarvisError
from jarvis_workers.paths import from_text
from jarvis_workers.private_files import make_private_directory
from jarvis_workers.runs.checkouts import committed_files
from jarvis_workers.runs.request import check_snapshot, run_of
from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.sec.runs.scan_input import Baseline, Triage
from jarvis_workers.sec.stages.direct import is_one_batch, scan_directly
from jarvis_workers.sec.triage_states import TriageVerdict
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.resources import open_resources
from jarvis_workers.store.values import StageProgress

Announce = Callable[[dict[str, Any]], None]
EXECUTOR = "direct"


class TooLarge(Exception):
    """The tree does not fit into one batch."""


def serve(lines: Iterable[bytes], answers: IO[bytes]) -> None:
    """Answer each request."""

    def announce(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        answers.flush()

    for line in lines:
        request = json.loads(Path(json.loads(line)["request"]).read_bytes())
        announce(answer(request, announce))


def answer(request: dict[str, Any], announce: Announce) -> dict[str, Any]:
    """Execute one scan. This is a task boundary: any exception is reported to the parent."""
    try:
        return {"answer": _scan(request, announce)}
    except TooLarge:
        return {"large": True}
    except JarvisError as error:
        return {"error": [type(error).__name__, str(error)]}
    except Exception as error:  # noqa: BLE001  (the task boundary)
        return {"failed": f"{type(error).__name__}: {error}"}


def _scan(message: dict[str, Any], announce: Announce) -> dict[str, Any]:
    options, place = decode_options(message["options"]), Path(message["place"])
    baseline = Baseline(**message["baseline"]) if message["baseline"] else None
    source = SourceTree(Path(os.fsdecode(from_text(message["root"]))), from_text(message["name"]))
    request = request_of(options, source, tuple(map(from_text, message["paths"])), EXECUTOR, baseline)
    resources = open_resources(str(place / "blobs"), Path(message["cache"]), results_bytes=message["results_bytes"])
    if options.cache:
        with suppress(OSError):
            make_private_directory(Path(message["cache"]).parent)
    else:
        # Compiled patterns are cached in this process; a cache directory per scan would be empty each time.
        resources = resources._replace(patterns=None)
    blobs = resources.blobs

    def packing(files: int, size: int) -> None:
        announce({"progress": ["pack", size, 0, files, 0]})
        if size > BATCH_BYTES or files > BATCH_FILES:
            raise TooLarge

    def show(stage: StageProgress, findings: int) -> None:
        announce({"progress": [stage.name, stage.bytes, stage.bytes, stage.files, findings]})

    committed = committed_files(source.path, request.selection)
    snapshot = pack(source.path, request.selection, blobs, packing, committed=committed)
    check_snapshot(request, snapshot)
    for content in request.run_input.contents:
        blobs.put(content)
    run = run_of(request, snapshot)
    if not is_one_batch(run, blobs):
        raise TooLarge
    baseline_counts, judged = baseline.counts if baseline else None, _judged(request.run_input.triage)
    done = scan_directly(run, resources, baseline=baseline_counts, judged=judged, show=show)
    part = run_facts(done.run, done.stages, RunCosts())
    announce({"progress": ["report", 1, 1, part["stages"]["scan"]["files"], done.body.summary.total]})
    return answer_of(done.run, part, done.body, request.run_input.rules.rules, blobs)


def _judged(triage: Triage) -> dict[str, TriageVerdict]:
    return {one.fingerprint: TriageVerdict(one.verdict, one.reason) for one in triage.more}


def main() -> None:
    """Serve standard input; output of libraries is redirected to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)


if __name__ == "__main__":
    main()
