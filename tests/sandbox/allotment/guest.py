"""The program of the virtual machine: as init, delegate a control group to a user, then run attacks as that user.

Each line of its output that begins with RESULT is the JSON of one measurement.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

USER = 1000
GROUPS = Path("/sys/fs/cgroup")
DELEGATED = GROUPS / "worker"
RESULT = "RESULT "
TURNS = 100


def main() -> None:
    """Do what the last argument says: start as root, or attack as a user (`cgroup`, `measured`)."""
    what = json.loads(Path("/plan").read_text())
    for mode in what["modes"]:
        program = ["/bin/python3", "-I", "-S", __file__, mode]
        subprocess.run(program, check=False, preexec_fn=_enter if mode == "cgroup" else _become)
    print(f"{RESULT}{json.dumps({'ended': True})}", flush=True)


def delegate() -> None:
    (GROUPS / "cgroup.subtree_control").write_text("+memory +pids")
    DELEGATED.mkdir()
    os.setxattr(DELEGATED, "user.delegate", b"1")
    for name in (".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(DELEGATED / name, USER, USER)


def _enter() -> None:
    (DELEGATED / "cgroup.procs").write_text(str(os.getpid()))
    _become()


def _become() -> None:
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def attack(mode: str) -> None:
    from jarvis_workers.sandbox import cgroups
    from jarvis_workers.sandbox.limits import Tier
    from tests.sandbox.allotment.measure import run_attack

    place = Path("/tmp") / mode
    place.mkdir(mode=0o755)
    plan = json.loads(Path("/plan").read_text())
    base = cgroups.delegation()
    _say({"mode": mode, "delegation": str(base.place), "why": base.why})
    for tier, name in plan["attacks"]:
        _say({"mode": mode, **run_attack(name, Tier(tier), place)._asdict()})
    for tier in sorted({tier for tier, _ in plan["attacks"]}):
        _say({"mode": mode, "tier": tier, "start_milliseconds": _start(Tier(tier), place)})
    left = [group.name for group in base.place.iterdir() if group.is_dir()] if base.place else []
    _say({"mode": mode, "groups left": left})


def _start(tier: "Tier", place: Path) -> float:  # noqa: F821
    from jarvis_workers.sandbox.sandbox import Sandbox

    taken = []
    with Sandbox(str(place), tier) as box:
        for _ in range(TURNS):
            began = time.perf_counter()
            assert box.run(["true"]).code == 0
            taken.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(taken), 2)


def _say(facts: object) -> None:
    print(RESULT + json.dumps(facts), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, "/code")
    if sys.argv[1:]:
        attack(sys.argv[1])
    else:
        delegate()
        main()
