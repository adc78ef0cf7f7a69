"""Of the pieces done apart, the one that kills its process is lost, and no other."""

import errno
import json
import subprocess
import sys

import pytest

from jarvis_workers.errors import BlobsUnavailable, HostExhausted
from jarvis_workers.toolchain.forked import map_in_fork

pytestmark = pytest.mark.timing

# A process of its own: one that tests run in may have threads, and does not fork well.
PROGRAM = """
import gc, json, os, signal, sys, time
from jarvis_workers.errors import GivenUp
from jarvis_workers.toolchain.forked import Crashed, map_in_fork

class Connection:
    def __del__(self):
        if os.getpid() != parent: os._exit(7)

gc.disable()
parent, garbage = os.getpid(), Connection()
garbage.itself = garbage
del garbage

def work(item):
    if item == "collects garbage": gc.collect()
    if item == "killed": os.kill(os.getpid(), signal.SIGKILL)
    if item == "left": os._exit(3)
    if item == "raised": raise ValueError("no such thing")
    if item == "given up": raise GivenUp("too big")
    if item == "endless":
        while True: pass
    return [item, os.getpid()]

answers = map_in_fork(json.loads(sys.argv[1]), work, lambda item: 0.2)
told = [["lost", said.reason] if isinstance(said, Crashed) else said for said in answers]
print(json.dumps([os.getpid(), told]))
"""


def apart(*items: str) -> tuple[int, list[list[object]]]:
    """Return the parent's process, and what was said of each item."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(items)], capture_output=True, check=True, timeout=240
    )
    parent, told = json.loads(done.stdout)
    return parent, told


def test_pieces_that_end_well_share_one_process_apart() -> None:
    parent, told = apart("a", "b", "c")

    assert [item for item, _ in told] == ["a", "b", "c"]
    assert len({process for _, process in told} | {parent}) == 2


def test_garbage_of_the_parent_is_not_collected_in_the_fork() -> None:
    _, told = apart("collects garbage", "a")

    assert [item for item, _ in told] == ["collects garbage", "a"]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("killed", "its process was killed by SIGKILL"),
        ("left", "its process exited with code 3"),
        ("raised", "ValueError: no such thing"),
        ("given up", "too big"),
        ("endless", "exceeded the CPU limit of 0.2 s"),
    ],
)
def test_a_piece_that_ends_badly_is_lost_with_the_reason(item: str, reason: str) -> None:
    _, told = apart("a", item, item, "b")

    assert [said for said, _ in told] == ["a", "lost", "lost", "b"]
    assert [why for said, why in told if said == "lost"] == [reason, reason]


def test_nothing_to_do_needs_no_process() -> None:
    assert apart()[1] == []


def test_a_process_apart_ends_when_nobody_listens_any_more() -> None:
    program = PROGRAM.replace("told = [", "first = next(answers); answers.close(); os.kill(first[1], 0)\ntold = [")
    items = json.dumps(["a", "endless"])
    done = subprocess.run(
        [sys.executable, "-c", program, items], capture_output=True, check=False, text=True, timeout=240
    )

    assert "ProcessLookupError" in done.stderr


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BlobsUnavailable("away"), BlobsUnavailable),
        (OSError(errno.EMFILE, "Too many open files"), HostExhausted),
        (MemoryError(), HostExhausted),
    ],
)
def test_an_outage_is_raised_in_the_parent_and_not_charged_to_an_item(error: Exception, kind: type[Exception]) -> None:
    def work(item: int) -> int:
        if item == 2:
            raise error
        return item

    answers = map_in_fork([1, 2, 3], work, lambda _: 10.0)
    assert next(answers) == 1
    with pytest.raises(kind):
        next(answers)
