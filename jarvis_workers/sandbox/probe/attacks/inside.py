"""Run attacks inside the sandbox, each in a process of its own; print a line for each success."""

import inspect
import json
import os
import signal
import sys
import time
from types import ModuleType

from jarvis_workers.sandbox.probe.attacks import attributes, leaving, network, resources, secrets, system, writing
from jarvis_workers.sandbox.probe.attacks.target import Attack, Target


def _attacks(module: ModuleType) -> tuple[Attack, ...]:
    """Return the public functions of a module, in the order of their definition."""
    functions = [value for value in vars(module).values() if inspect.isfunction(value)]
    return tuple(one for one in functions if one.__module__ == module.__name__ and not one.__name__.startswith("_"))


TOGETHER: dict[str, tuple[Attack, ...]] = {
    "files": _attacks(writing),
    "attributes": _attacks(attributes),
    "secrets": _attacks(secrets),
    "network": _attacks(network),
    "processes and kernel": _attacks(system),
}
# The self-test looks for the processes that the last group leaves behind.
ALONE: dict[str, tuple[Attack, ...]] = {"resources": _attacks(resources), "left behind": _attacks(leaving)}
ATTACKS = {attack.__name__: attack for group in (TOGETHER | ALONE).values() for attack in group}
SECONDS = 10
PAUSE_SECONDS = 0.01
# If these words are missing from the output, no attack was run, so nothing was contained.
STARTED, FINISHED = "-started", "-finished"


def main() -> None:
    """Run the attacks named in the second argument and print those that succeeded."""
    target = Target(**json.loads(sys.argv[1]))._replace(parent=os.getppid())
    alone = {attack.__name__ for group in ALONE.values() for attack in group}
    _say(STARTED)
    for name in sys.argv[2].split():
        make = _try if name in alone else _apart
        if make(ATTACKS[name], target):
            _say(name)
    _say(FINISHED)


def _say(word: str) -> None:
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def _apart(attack: Attack, target: Target) -> bool:
    child = _fork()
    if not child:
        try:
            signal.alarm(SECONDS)
            os._exit(0 if _try(attack, target) else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _fork() -> int:
    """Fork, with retries: other programs of the user may use up the process limit for a while."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return os.fork()
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(PAUSE_SECONDS)


def _try(attack: Attack, target: Target) -> bool:
    try:
        return attack(target)
    except (OSError, MemoryError, ValueError, KeyError):
        return False


if __name__ == "__main__":
    main()
