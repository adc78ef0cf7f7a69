"""Decide jobs in the process of the command, in place of a child: for debuggers, and where a start costs too much.

It has the interface of `toolchain.children.Child`.  Nothing protects the command from a job: what kills its process or
never ends takes the command with it, and while a job is decided no lease is renewed.
"""

import json
import os
from pathlib import Path

from jarvis_workers.local.child import decide
from jarvis_workers.pipeline.wire import to_line
from jarvis_workers.snapshots.resources import Resources, open_resources
from jarvis_workers.toolchain.limits import cpu_seconds


class InlineChild:
    """Decides each job as it is sent; its answers are received as those of a child."""

    def __init__(self) -> None:
        self._ready, self._bell = os.pipe()
        self._resources: Resources | None = None
        self._answers: list[bytes] = []

    def fileno(self) -> int:
        """Return what to wait on for answers."""
        return self._ready

    def send(self, line: bytes) -> None:
        """Take the first line, which says where the blobs are, or do a job."""
        said = json.loads(line)
        if self._resources is None:
            limit = int(said.get("results_bytes", 0))
            self._resources = open_resources(said["blobs"], Path(said["cache"]), results_bytes=limit)
            return
        before = cpu_seconds()
        answer = decide(said, self._resources)
        self._answers.append(to_line({**answer, "cpu_seconds": cpu_seconds() - before}))
        os.write(self._bell, b"\n")

    def receive(self) -> list[bytes]:
        """Return the answers that nobody has received."""
        os.read(self._ready, len(self._answers))
        answers, self._answers = self._answers, []
        return answers

    def kill(self) -> None:
        """Forget the jobs."""
        self.close()

    def close(self) -> None:
        """Give back the pipe."""
        os.close(self._ready)
        os.close(self._bell)
