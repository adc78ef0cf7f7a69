"""A process that starts commands, with coverage measurement: it loads the site packages."""

import json
import os
import sys

from jarvis_workers.sandbox.launcher import PACKAGES, Starter

BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jarvis_workers.sandbox.zygote import main; main()"


def is_counted() -> bool:
    """Return whether coverage is measured in child processes."""
    return any(name.startswith("COVERAGE_PROCESS") for name in os.environ)


class CountedStarter(Starter):
    """The sandbox is otherwise the same; coverage is not measured inside bubblewrap."""

    def outer_command(self, control: int) -> list[str]:
        return [sys.executable, "-c", BOOT, str(PACKAGES), str(control), json.dumps(self.kind)]
