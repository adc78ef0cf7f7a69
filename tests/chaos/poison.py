"""A scanner that does to its process what a file says: what it does, some rule or library may do."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
POISON = """
import os, signal
from jarvis_workers.sec import scanner
scan = scanner.Scanner.scan
def poisoned(self, content, **how):
    if b"SEGFAULT" in content:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"EXIT" in content:
        os._exit(7)
    if b"RAISE" in content:
        raise IndexError("out of range")
    if b"HANG" in content:
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass
    if b"DEAF" in content:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        while True:
            pass
    if b"SWALLOW" in content:
        hog = [bytes(10_000_000) for _ in range(1_000)]
    return scan(self, content, **how)
scanner.Scanner.scan = poisoned
"""


def poisoned_path(home: Path) -> str:
    """Return a PYTHONPATH by which Python runs POISON in every process, before anything else."""
    (home / "poison").mkdir()
    (home / "poison" / "sitecustomize.py").write_text(POISON)
    return f"{home / 'poison'}{os.pathsep}{REPOSITORY}"
