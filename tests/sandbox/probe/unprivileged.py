"""Run the probe in a process without privileges, like that of an attacker."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from jarvis_workers.sandbox.launcher import PACKAGES

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
SECONDS = 250
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from jarvis_workers.sandbox.probe import selftest
from jarvis_workers.sandbox import sandbox
from jarvis_workers.sandbox.limits import Tier
asked = json.loads(sys.argv[2])
if asked["do"] == "tiers":
    said = sandbox.tiers()
elif asked["do"] == "unconfined":
    said = sorted(selftest.unconfined(asked["names"]))
else:
    options = {name: asked[name] for name in ("without", "handled_rights", "loopback")}
    found = selftest.confined(Tier(asked["tier"]), asked["names"], **options)
    said = sorted(found)
print(json.dumps(said))
"""


class Prober:
    """Runs the probe as the current user; for root as `nobody`, with a readable copy of the code and of Python."""

    def __init__(self, place: Path) -> None:
        self._options: dict[str, Any] = {}
        self._python, self._packages = sys.executable, PACKAGES
        if not os.getuid():
            self._options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            self._python = SYSTEM_PYTHON
            self._packages = place
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PACKAGES / "jarvis_workers", place / "jarvis_workers", ignore=ignored)
            for path in (place, *place.rglob("*")):
                path.chmod(0o755)

    def tiers(self) -> dict[str, str | None]:
        told: dict[str, str | None] = self._ask({"do": "tiers"})
        return told

    def unconfined(self, names: list[str]) -> set[str]:
        return set(self._ask({"do": "unconfined", "names": names}))

    def confined(
        self,
        tier: str,
        names: list[str],
        without: tuple[str, ...] = (),
        handled_rights: int | None = None,
        *,
        loopback: bool = False,
    ) -> set[str]:
        asked = {"do": "confined", "tier": tier, "names": names, "without": without, "handled_rights": handled_rights}
        return set(self._ask({**asked, "loopback": loopback}))

    def _ask(self, what: dict[str, Any]) -> Any:
        command = [self._python, "-I", "-c", PROGRAM, str(self._packages), json.dumps(what)]
        environ = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        done = subprocess.run(
            command, capture_output=True, timeout=SECONDS, check=False, cwd="/", env=environ, **self._options
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)
