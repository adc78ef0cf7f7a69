"""How near 200 conversations in one agent process come to what they would take if nothing else did."""

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from jarvis_workers.store.engine import Store
from tests.dispatch.sleeping import sleeper
from tests.dispatch.talking import Place
from tests.servers import redis_server

CONVERSATIONS, ROUNDS, SECONDS = 200, 20, 1.0


@pytest.mark.bench
def test_200_conversations_take_little_longer_than_one(
    tmp_path: Path, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    with redis_server() as broker, sleeper() as server:
        place = Place(open_stores(postgres_url), postgres_url, broker, tmp_path)
        run = place.submit(jobs=CONVERSATIONS, rounds=ROUNDS, seconds=SECONDS, port=server.port)
        with place.worker():
            state = place.ended(run)
        talks = place.talks(run)

    first, last = min(row.started_at for row in talks), max(row.started_at for row in talks)
    end, ideal = max(row.finished_at for row in talks), ROUNDS * SECONDS
    longest = max(row.finished_at - row.started_at for row in talks)
    mean = sum(row.finished_at - row.started_at for row in talks) / len(talks)
    cpu = sum(row.cpu_seconds for row in talks)
    print(
        f"\n{CONVERSATIONS} conversations, {server.most} at once; ramp {last - first:.2f} s, "
        f"wall without it {end - last:.2f} s of {ideal:.0f} s ideal = {ideal / (end - last):.1%}; "
        f"mean {ideal / mean:.1%}, worst {ideal / longest:.1%}; {cpu:.2f} s of CPU, "
        f"load {psutil.getloadavg()[0]:.1f}"
    )
    assert state == "done"
    assert server.most == CONVERSATIONS
    assert ideal / (end - last) >= 0.92
    assert ideal / mean >= 0.92
