"""Run two callables concurrently in every order that locks and stops allow.

A participating thread passes a stop before each of its statements and commits. One side runs to its n-th stop; the
other then runs until it has ended or waits for a lock; then the first continues. This is repeated for every n until
there is no n-th stop, and with the sides exchanged. A deep walk stops the other side as well, before each of its
statements.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from sqlalchemy import event, text

from jarvis_workers.store.engine import Store

Left = TypeVar("Left")
Right = TypeVar("Right")

PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.003
SQLITE_LOCK = "BEGIN IMMEDIATE"
WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")

_here = threading.local()


@dataclass(frozen=True)
class Scene(Generic[Left, Right]):
    """A fresh state, and the operations of the two sides."""

    run_id: str
    left: Callable[[Store], Left]
    right: Callable[[Store], Right]


@dataclass(frozen=True)
class Seen(Generic[Left, Right]):
    """The result of one order; `where` names the statements before which the first and the other side stopped."""

    run_id: str
    left: Left
    right: Right
    where: str


@dataclass(frozen=True)
class Pair:
    """Two stores on one database, and a third one for observation."""

    left: Store
    right: Store
    onlooker: Store


def pair_of(open_one: Callable[[], Store]) -> Pair:
    """Open a database three times, and stop at the statements of the first two."""
    pair = Pair(open_one(), open_one(), open_one())
    for store in (pair.left, pair.right):
        event.listen(store.engine, "before_cursor_execute", lambda _c, _u, statement, *_: arrive(statement))
        event.listen(store.engine, "after_cursor_execute", lambda _c, _u, statement, *_: _note(statement))
        event.listen(store.engine, "commit", lambda _: arrive("COMMIT"))
        event.listen(store.engine, "rollback", lambda _: arrive("ROLLBACK"))
    return pair


def arrive(what: str) -> None:
    """Pass a stop in a participating thread; do nothing in others."""
    side: Side | None = getattr(_here, "side", None)
    if side is not None:
        side.arrive(what)


def every_interleaving(
    pair: Pair, arrange: Callable[[], Scene[Left, Right]], *, deep: bool = False
) -> Iterator[Seen[Left, Right]]:
    """Yield the result of each order; `arrange` creates a fresh state for each."""
    for turned in (False, True):
        for stop in count(1):
            stopped = False
            for other_stop in count(1) if deep else (0,):
                first, other = Side(stop), Side(other_stop)
                yield _play(pair, arrange(), (first, other), turned=turned)
                stopped |= first.where != ""
                if not other.where:
                    break
            if not stopped:
                break


class Side:
    """A callable in a separate thread that stops once; `where` is the statement before which it stopped, or empty."""

    def __init__(self, stop: int) -> None:
        self.where = ""
        self.holds_lock = False
        self.stops = stop
        self._passed = 0
        self._now_at = ""
        self._still = threading.Event()
        self._go = threading.Event()

    def run(self, act: Callable[[Store], Any], store: Store) -> Any:
        _here.side = self
        try:
            return act(store)
        finally:
            _here.side = None
            self._still.set()

    def arrive(self, what: str) -> None:
        self._passed += 1
        self._now_at = what
        if self._passed == self.stops and not self._go.is_set():
            self.where = " ".join(what.split())[:120]
            self._still.set()
            assert self._go.wait(PATIENCE_SECONDS), f"nobody let it go before {self.where}"
        if what in ("COMMIT", "ROLLBACK"):
            self.holds_lock = False

    def executed(self, statement: str) -> None:
        if statement == SQLITE_LOCK:
            self.holds_lock = True
            self._now_at = ""

    def settle(self, waits: Callable[[], bool]) -> None:
        """Wait until the thread has ended, has stopped, or waits for the other."""
        for _ in range(int(PATIENCE_SECONDS / LOOK_SECONDS)):
            if self._still.wait(LOOK_SECONDS) or waits():
                return
        raise TimeoutError(f"it neither ends nor waits, at {self._now_at}")

    def let_go(self) -> None:
        if self.where:
            self._still.clear()
        self._go.set()

    @property
    def wants_lock(self) -> bool:
        """Whether the thread is about to acquire the lock of SQLite."""
        return self._now_at == SQLITE_LOCK

    @property
    def stands_still(self) -> bool:
        """Whether the thread has stopped or ended."""
        return self._still.is_set()


def _note(statement: str) -> None:
    side: Side | None = getattr(_here, "side", None)
    if side is not None:
        side.executed(statement)


def _play(pair: Pair, scene: Scene[Left, Right], sides: tuple[Side, Side], *, turned: bool) -> Seen[Left, Right]:
    first, other = sides
    parts = [(scene.left, pair.left), (scene.right, pair.right)]
    threads = ThreadPoolExecutor(2)
    try:
        one = threads.submit(first.run, *parts[turned])
        first.settle(lambda: False)
        two = threads.submit(other.run, *parts[not turned])
        other.settle(lambda: _waits(pair, other, first))
        first.let_go()
        if other.stops:
            first.settle(lambda: _waits(pair, first, other))
        other.let_go()
        results = one.result(PATIENCE_SECONDS), two.result(PATIENCE_SECONDS)
    finally:
        first.let_go()
        other.let_go()
        threads.shutdown()
    left, right = reversed(results) if turned else results
    who = "right, left" if turned else "left, right"
    return Seen(scene.run_id, left, right, f"{who}: stopped before {first.where!r}, {other.where!r}")


def _waits(pair: Pair, side: Side, other: Side) -> bool:
    """Return whether one side waits for the other, which has stopped: only one can be waiting then."""
    if not other.stands_still:
        return False
    if pair.onlooker.dialect == "sqlite":
        return side.wants_lock and other.holds_lock
    with pair.onlooker.read() as session:
        return bool(session.execute(WAITING).scalar_one())
