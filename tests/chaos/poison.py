"""Inject the fault that a scanned file names into its process, such as a rule or a library may cause."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
POISON = """
import os, signal, time
from jarvis_workers.errors import StoreFull
from jarvis_workers import dataflow as flow
from jarvis_workers.sec import scanner
scan, summarize, run = scanner.Scanner.scan, flow.summarize, flow.FileAnalysis.run
def poison(content):
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
def poisoned_scan(self, content, **how):
    poison(content)
    return scan(self, content, **how)
def poisoned_summary(content, **how):
    poison(content)
    return summarize(content, **how)
def poisoned_analysis(self):
    while os.path.exists(GATE):
        time.sleep(0.01)
    return run(self)
def no_room(content, **how):
    if os.path.exists(GATE):
        raise StoreFull("no space left; free some space")
    return summarize(content, **how)
WHERE
"""
PLACES = {
    "scan": "scanner.Scanner.scan = poisoned_scan",
    "summarize": "flow.summarize = poisoned_summary",
    "flow": "flow.FileAnalysis.run = poisoned_analysis",
    "full": "flow.summarize = no_room",
}


def poisoned_path(home: Path, stage: str = "scan", gate: Path | None = None) -> str:
    """Return a PYTHONPATH by which Python runs POISON in every process, before anything else.

    While `gate` exists, the stage "flow" waits at each file, and "full" has no disk space for models.
    """
    (home / "poison").mkdir()
    text = POISON.replace("GATE", repr(str(gate))).replace("WHERE", PLACES[stage])
    (home / "poison" / "sitecustomize.py").write_text(text)
    return f"{home / 'poison'}{os.pathsep}{REPOSITORY}"
