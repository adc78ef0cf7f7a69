"""Limits that workers share: never more than there are, whoever dies or forgets, and nobody waits hot."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
import redis

from jarvis_workers.executors.dispatch.ratelimit.client import KEY, SharedLimits
from jarvis_workers.executors.dispatch.sender import EXECUTOR
from jarvis_workers.models.ratelimit.gate import LocalLimiter
from jarvis_workers.models.ratelimit.policy import Limiter, ModelKey, RateLimitPolicy
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from tests.agents.loop.arrange import slot
from tests.bench import rounds
from tests.bench.strictserver import strict_server
from tests.chaos.commands import until
from tests.executors.dispatch.holding import MODEL, PATIENCE
from tests.executors.dispatch.talking import ROOT, Place
from tests.support.servers import Redis, redis_server

pytestmark = pytest.mark.timing

LEASE = 0.6
_numbers = count(1)

Join = Callable[..., "Member"]


class Member:
    """A process that shares limits, as a thread of this one; it may go without a word."""

    def __init__(self, url: str, lease: float) -> None:
        self.limits = SharedLimits(url, f"member {next(_numbers)}", lease_seconds=lease)
        self._thread = threading.Thread(target=self.limits.run, daemon=True)
        self._thread.start()

    def gate(self, most: int | None = None, **limits: float) -> Limiter:
        return self.limits.limiter(MODEL, RateLimitPolicy(most, **limits))

    def close(self) -> None:
        self.limits.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


class Requests:
    """Requests that are on: how many, how many at most, and when they began."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.began: list[float] = []
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.began.append(time.monotonic())
        try:
            yield
        finally:
            with self._lock:
                self.now -= 1


@pytest.fixture
def server() -> Iterator[Redis]:
    with redis_server() as here:
        yield here


@pytest.fixture
def join(server: Redis) -> Iterator[Join]:
    members: list[Member] = []

    def one(lease: float = LEASE) -> Member:
        members.append(Member(server.url, lease))
        return members[-1]

    yield one
    for member in members:
        member.close()


@contextmanager
def holder(server: Redis, most: int, wanted: int) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds slots; it has them when the block begins."""
    arguments = [server.url, f"holder {next(_numbers)}", str(most), str(wanted), str(LEASE)]
    command = [sys.executable, "-m", "tests.executors.dispatch.holding", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert [process.stdout.readline() for _ in range(wanted)] == ["in\n"] * wanted
            yield process
        finally:
            process.kill()


def ask_many(gate: Limiter, many: int, seconds: float, *seen: Requests) -> threading.Thread:
    """Ask in a loop of its own, all at once."""

    async def one() -> None:
        async with gate.slot(PATIENCE) as turn:
            with ExitStack() as on:
                for requests in seen:
                    on.enter_context(requests.one())
                await asyncio.sleep(seconds)
            turn.on_success(0)

    async def all_of_them() -> None:
        await asyncio.gather(*(one() for _ in range(many)))

    thread = threading.Thread(target=asyncio.run, args=(all_of_them(),), daemon=True)
    thread.start()
    return thread


def taken(gate: Limiter, stack: ExitStack, wanted: int) -> int:
    """Take as many slots as there are at once, at most `wanted`; return how many."""
    for number in range(wanted):
        try:
            stack.enter_context(slot(gate, 0.5 if number else 2.5 * LEASE))
        except TimeoutError:
            return number
    return wanted


@pytest.mark.slow
def test_rate_limit_holds_for_all_processes_together(join: Join) -> None:
    together, both = Requests(), (Requests(), Requests())
    members = [join(), join()]
    for thread in [ask_many(m.gate(10), 100, 0.1, together, own) for m, own in zip(members, both, strict=True)]:
        thread.join(PATIENCE)

    assert (together.most, len(together.began)) == (10, 200)
    halfway = sorted(together.began)[100]
    assert all(30 <= len([at for at in own.began if at <= halfway]) <= 70 for own in both)
    spent = max(together.began) - min(together.began)
    assert sum(member.limits.calls for member in members) <= 25 * (spent + LEASE + 1)


@pytest.mark.slow
def test_what_one_has_to_spare_the_other_gets(join: Join) -> None:
    busy, idle = join().gate(8), join().gate(8)
    with ExitStack() as held:
        with slot(idle, PATIENCE):
            assert taken(busy, held, 7) == 7
        assert taken(busy, held, 1) == 1
        with pytest.raises(TimeoutError), slot(idle, 0.2):
            pass
    with slot(idle, PATIENCE):
        pass


@pytest.mark.slow
def test_who_comes_late_gets_its_part_of_one_that_always_has_enough_to_do(join: Join) -> None:
    together, late = Requests(), Requests()
    busy = ask_many(join().gate(4), 250, 0.05, together)
    until(lambda: together.now == 4)
    ask_many(join().gate(4), 20, 0.05, together, late).join(PATIENCE)

    assert len(together.began) < 200
    assert (len(late.began), together.most) == (20, 4)
    busy.join(PATIENCE)


@pytest.mark.slow
def test_rate_limit_falls_by_a_429_in_a_process_that_always_has_enough_to_do(join: Join) -> None:
    requests, gate = Requests(), join().gate(8)
    with slot(gate, PATIENCE) as turn:
        busy = ask_many(gate, 150, 0.05, requests)
        until(lambda: requests.now == 7)
        turn.on_throttled(0.5)
    until(lambda: requests.now == 0)
    requests.most, begun = 0, len(requests.began)
    until(lambda: len(requests.began) >= begun + 6)

    assert requests.most <= 5
    busy.join(PATIENCE)


def test_a_rate_limit_does_not_wait_for_a_clock_of_redis_that_was_set_back(server: Redis, join: Join) -> None:
    member = join()
    with slot(member.gate(2, requests_per_minute=600), PATIENCE):
        pass
    member.close()
    with redis.Redis(port=server.port) as client:
        (key,) = client.keys(f"{KEY}*")
        state = json.loads(client.get(key))
        later = {name: state[name] + 3600.0 for name in ("born", "kept")}
        steps = {name: at + 3600.0 for name, at in state["steps"].items()}
        client.set(key, json.dumps(state | later | {"steps": steps, "closed": 0}))
    began = time.monotonic()
    with slot(join().gate(2, requests_per_minute=600), PATIENCE):
        assert time.monotonic() - began < PATIENCE / 2


@pytest.mark.slow
def test_slots_of_a_process_that_was_killed_are_free_after_a_lease(server: Redis, join: Join) -> None:
    mine = join().gate(6)
    with ExitStack() as held, holder(server, most=6, wanted=4) as process:
        assert taken(mine, held, 6) == 2
        process.kill()
        killed = time.monotonic()
        with slot(mine, PATIENCE):
            assert time.monotonic() - killed >= 0.5 * LEASE
        assert taken(mine, held, 6) == 4


@pytest.mark.slow
def test_a_process_that_ends_gives_back_what_it_has_at_once(join: Join) -> None:
    leaving, mine = join(lease=2.5), join(lease=2.5).gate(3)
    ready(gate := leaving.gate(3))
    with ExitStack() as held:
        assert taken(gate, held, 3) == 3
    leaving.close()
    closed = time.monotonic()
    with ExitStack() as held:
        assert taken(mine, held, 3) == 3
    assert time.monotonic() - closed < 2.0


@pytest.mark.slow
def test_a_redis_that_forgot_all_gives_nobody_more_than_he_had_for_a_lease(server: Redis, join: Join) -> None:
    mine = join().gate(6)
    with ExitStack() as held, holder(server, most=6, wanted=4):
        assert taken(mine, held, 6) == 2
        server.flush()
        newcomer = join().gate(6)
        with pytest.raises(TimeoutError), slot(newcomer, 1.5 * LEASE):
            pass
        assert taken_now(mine) == 0
        held.close()
        with slot(newcomer, PATIENCE):
            pass


@pytest.mark.slow
def test_slots_that_were_dead_when_redis_forgot_all_are_free_a_lease_later(server: Redis, join: Join) -> None:
    mine = join().gate(6)
    with ExitStack() as held, holder(server, most=6, wanted=4) as process:
        assert taken(mine, held, 6) == 2
        process.kill()
        server.flush()
        forgot = time.monotonic()
        with slot(mine, PATIENCE):
            assert time.monotonic() - forgot >= 0.9 * LEASE


@pytest.mark.slow
def test_while_redis_is_away_all_wait_without_haste_and_go_on_when_it_is_back(server: Redis, join: Join) -> None:
    member, requests = join(), Requests()
    ready(gate := member.gate(4))
    server.kill()
    thread = ask_many(gate, 80, 0.1, requests)
    before = member.limits.calls
    assert not ends(thread, 2 * LEASE)
    assert member.limits.calls - before <= 12
    went_on = len(requests.began)
    server.start()
    thread.join(PATIENCE)

    assert (went_on < 80, len(requests.began), requests.most <= 4) == (True, 80, True)


def test_who_waits_for_a_redis_that_is_away_gives_up_when_its_time_is_over(server: Redis, join: Join) -> None:
    gate = join().gate(4)
    server.kill()
    with pytest.raises(TimeoutError), slot(gate, 0.3):
        pass


@pytest.mark.slow
def test_rate_limit_of_requests_a_second_holds_for_all_processes(join: Join) -> None:
    requests = Requests()
    threads = [ask_many(join().gate(requests_per_second=100), 120, 0.01, requests) for _ in range(2)]
    for thread in threads:
        thread.join(PATIENCE)

    began = sorted(requests.began)
    assert len(began) == 240
    assert fullest(began, 1.0) <= 100
    assert 240 / (began[-1] - began[0]) >= 70


@pytest.mark.slow
def test_rate_limit_and_concurrency_limit_hold_together(join: Join) -> None:
    requests = Requests()
    ready(*(gates := [join().gate(4, requests_per_second=200) for _ in range(2)]))
    began = time.monotonic()
    for thread in [ask_many(gate, 60, 0.05, requests) for gate in gates]:
        thread.join(PATIENCE)

    assert requests.most == 4
    assert time.monotonic() - began <= 2.5 * 120 * 0.05 / 4


@pytest.mark.slow
def test_rate_limit_of_tokens_is_shared_and_corrected_by_what_is_reported(join: Join) -> None:
    gates = [join().gate(tokens_per_minute=60_000) for _ in range(2)]
    with slot(gates[0], PATIENCE, tokens=100) as turn:
        turn.on_success(1_500)
    with slot(gates[0], PATIENCE, tokens=100):
        told = time.monotonic()
    with slot(gates[1], PATIENCE, tokens=100):
        assert time.monotonic() >= told
    with pytest.raises(TimeoutError), slot(gates[1], 0.05, tokens=100):
        pass


@pytest.mark.slow
def test_retry_after_holds_for_all(join: Join) -> None:
    gates = [join().gate(8) for _ in range(2)]
    ready(*gates)
    with slot(gates[0], PATIENCE) as turn:
        turn.on_throttled(1.5)
        told = time.monotonic()
        with pytest.raises(TimeoutError), slot(gates[0], 0):
            pass
    until(lambda: taken_now(gates[1]) == 0)
    with slot(gates[1], PATIENCE):
        assert time.monotonic() - told >= 1.4


@pytest.mark.slow
def test_where_nothing_but_429s_comes_all_wait_twice_as_long_each_time(join: Join) -> None:
    gates = [join().gate(2) for _ in range(2)]
    ready(*gates)
    began = time.monotonic()
    for gate in (*gates, gates[0]):
        with slot(gate, PATIENCE) as turn:
            turn.on_throttled(0.2)
        until(lambda: taken_now(gates[1]) == 0)
    with slot(gates[1], PATIENCE):
        assert time.monotonic() - began >= 0.2 + 0.4 + 0.8
    with slot(gates[1], PATIENCE) as turn:
        turn.on_success(0)


@pytest.mark.slow
def test_what_a_429_lowers_is_lower_for_all_and_answers_raise_it_again(join: Join) -> None:
    mine, other = join().gate(16), join().gate(16)
    with ExitStack() as held:
        assert taken(mine, held, 15) == 15
        with slot(mine, PATIENCE) as turn:
            turn.on_throttled(0.0)
    with ExitStack() as held:
        assert taken(other, held, 16) == 8
    for _ in range(300):
        with slot(mine, PATIENCE) as turn:
            turn.on_success(0)
    with ExitStack() as held:
        assert taken(other, held, 16) == 16


@pytest.mark.slow
def test_without_a_rate_limit_nobody_asks_redis(server: Redis, join: Join) -> None:
    member = join()
    server.kill()
    with slot(member.gate(), 0):
        assert isinstance(member.gate(), LocalLimiter)
    assert member.limits.calls == 0


def test_what_redis_keeps_tells_neither_address_nor_model(server: Redis, join: Join) -> None:
    limits = join().limits
    gate = limits.limiter(ModelKey("http://me:sk-secret@there/v1", "secret-model"), RateLimitPolicy(2))
    with slot(gate, PATIENCE), redis.Redis.from_url(server.url) as client:
        kept = [key + client.get(key) for key in client.scan_iter()]
    assert len(kept) == 1
    assert kept[0].startswith(KEY.encode())
    assert b"secret" not in kept[0]


@pytest.mark.slow
def test_a_changed_rate_limit_holds_from_then_on(join: Join) -> None:
    before, after = join().gate(8), join().gate(3)
    with ExitStack() as held:
        assert taken(before, held, 8) == 8
    with ExitStack() as held:
        assert taken(after, held, 8) == 3


@pytest.mark.slow
def test_the_conversations_of_two_workers_share_what_is_allowed(
    tmp_path: Path, server: Redis, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    place = Place(open_stores(postgres_url), postgres_url, server, tmp_path)
    blobs = open_blobs(str(tmp_path / "blobs"), tmp_path / "cache")
    rounds.add_runs(place.store, blobs, rounds.make_tree(tmp_path), [f"r{number}" for number in range(12)], EXECUTOR)
    with strict_server(0.2, answers=2) as model:
        models = {rounds.GROUP: {**rounds.model_at(model.url), "concurrent": 3}}
        with place.pool(models=models), place.pool(models=models):
            place.ring()
            until(lambda: model.finished == 12)

    assert (model.most, len(model.began)) == (3, 24)


def taken_now(gate: Limiter) -> int:
    """Take a slot if there is one right now; return how many."""
    try:
        with slot(gate, 0):
            return 1
    except TimeoutError:
        return 0


def ready(*gates: Limiter) -> None:
    """Wait until Redis gives slots to all, and give them back."""
    for gate in gates:
        with slot(gate, PATIENCE):
            pass


def ends(thread: threading.Thread, seconds: float) -> bool:
    """Wait so long for a thread; return whether it has ended."""
    thread.join(seconds)
    return not thread.is_alive()


def fullest(began: list[float], span: float) -> int:
    """Return how many of these times lie within one span at most."""
    return max(len([at for at in began if start <= at < start + span]) for start in began)
