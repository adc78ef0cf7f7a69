"""A conversation whose process is killed just before or after its n-th record: LOG URL EFFECTS MOMENT N.

Its tool `do` appends a line to the file EFFECTS on each run.
"""

import os
import signal
import sys
from pathlib import Path

from jarvis_workers.agents.tools.tool import Tool, ToolOutcome, typed
from tests.agents.loop.arrange import At, agent_of, look, platform_of, run
from tests.agents.loop.logfile import LogFile


class Deadly(LogFile):
    """A log that kills its process."""

    def __init__(self, path: Path, moment: str, number: int) -> None:
        super().__init__(path)
        self.moment, self.left = moment, number

    def append(self, line: bytes) -> None:
        self.left -= 1
        if self.left == 0 and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        super().append(line)

    def sync(self) -> None:
        super().sync()
        if self.left <= 0 and self.moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)


def do(effects: Path) -> Tool:
    """A tool that may not run twice."""

    def leave(wanted: At) -> ToolOutcome:
        with effects.open("a") as file:
            file.write(f"{wanted.at}\n")
        return ToolOutcome(stdout="done")

    return typed(At, leave, name="do", description="Do.", repeatable=False)


if __name__ == "__main__":
    log, url, effects, moment, number = sys.argv[1:]
    agent = agent_of(do(Path(effects)), look([]))
    sys.stdout.write(run(agent, platform_of(url), log=Deadly(Path(log), moment, int(number))).text)
