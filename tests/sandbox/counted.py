"""A process that starts commands, whose lines coverage counts: it starts as others do, with all that sites add."""

import json
import os
import sys

from jarvis_workers.sandbox.launcher import PACKAGES, Starter

BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jarvis_workers.sandbox.zygote import main; main()"


def is_counted() -> bool:
    """Say whether coverage asks child processes to count."""
    return any(name.startswith("COVERAGE_PROCESS") for name in os.environ)


class CountedStarter(Starter):
    """Its cell is no different but for that; what is inside bubblewrap sees no coverage."""

    def outer_command(self, control: int) -> list[str]:
        return [sys.executable, "-c", BOOT, str(PACKAGES), str(control), json.dumps(self.kind)]
