"""The watchdog: a main loop that hangs is ended, one that goes round, waits for a slow database or has ended is not."""

import threading
from collections.abc import Callable
from contextlib import closing
from itertools import count

import pytest

from jarvis_workers.executors.dispatch import watchdog
from jarvis_workers.executors.dispatch.watchdog import EXIT_CODE, Watchdog

LOOK, SOON = 0.02, 0.5
PATIENCE_SECONDS = 60.0


class Ended:
    """What a watchdog did: what it told, and the exit code."""

    def __init__(self, **options: Callable[[], float]) -> None:
        self.told: list[str] = []
        self.codes: list[int] = []
        self.over = threading.Event()
        self.dog = Watchdog(SOON, self.told.append, end=self._end, look_seconds=LOOK, **options)  # type: ignore[arg-type]
        self.dog.start()

    def _end(self, code: int) -> None:
        self.codes.append(code)
        self.over.set()


def test_a_loop_that_hangs_is_ended_after_telling_why() -> None:
    ended = Ended()

    assert ended.over.wait(PATIENCE_SECONDS)
    assert ended.codes == [EXIT_CODE]
    assert ended.told[0].startswith("the main thread has hung for ")


@pytest.mark.slow
def test_a_loop_that_goes_round_or_whose_database_answers_is_not_ended() -> None:
    answers = count(1)
    fed, slow = Ended(), Ended(alive_at=lambda: float(next(answers)))
    feeding = threading.Event()
    with closing(fed.dog), closing(slow.dog):
        for _ in range(30):
            fed.dog.feed()
            feeding.wait(SOON / 10)

    assert (fed.codes, slow.codes) == ([], [])


def test_a_process_that_does_not_stop_in_time_is_ended() -> None:
    ended = Ended()
    ended.dog.end_within(SOON)

    assert ended.over.wait(PATIENCE_SECONDS)
    assert ended.told[0].startswith("the main thread has not stopped within ")


@pytest.mark.slow
def test_a_message_that_hangs_does_not_keep_the_process() -> None:
    over, stuck = threading.Event(), threading.Event()
    Watchdog(SOON, lambda _: stuck.wait(PATIENCE_SECONDS * 2) and None, end=lambda _: over.set()).start()  # type: ignore[func-returns-value]

    assert over.wait(PATIENCE_SECONDS + watchdog.TELL_SECONDS)
    stuck.set()
