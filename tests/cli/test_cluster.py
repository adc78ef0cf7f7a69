"""A cluster without workers, or with blobs that only one machine sees, as a user meets it."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_workers.c2rust.conversion import Conversion
from jarvis_workers.c2rust.stages.pipelines import PARTIAL_FAST, TRANSPILE
from jarvis_workers.executors.dispatch.sender import EXECUTOR
from jarvis_workers.store import runs, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts
from tests.chaos.commands import until
from tests.cli.commands import COPY, Jarvis
from tests.cli.stored_conversions import store_conversion
from tests.store.arrange import job_rows
from tests.support.servers import Redis, redis_server

pytestmark = pytest.mark.timing

BOTH = "no worker serves queues control, scan; start one with: jarvis worker start --queues control,scan"


@pytest.fixture(scope="module")
def broker() -> Iterator[Redis]:
    with redis_server() as server:
        yield server


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, jarvis: Jarvis, postgres_url: str, broker: Redis) -> None:
    """The addresses of a cluster without workers."""
    monkeypatch.setenv("JARVIS_STORE_URL", postgres_url)
    monkeypatch.setenv("JARVIS_BROKER_URL", broker.url)


@pytest.mark.slow
@pytest.mark.usefixtures("environ")
def test_who_submits_and_leaves_is_told_at_once_and_who_looks_is_told_too(
    jarvis: Jarvis, postgres_url: str, open_stores: Callable[..., Store]
) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})
    ended = jarvis("sec", "fast", "-p", tree, "--detach", "-q")
    assert (ended.code, ended.line) == (0, f"jarvis: {BOTH}")

    assert "no worker serves queue control; start one" in jarvis("runs", "show", ended.out.strip()).out
    with open_stores(postgres_url).write() as session:
        for queue in ("scan", "control"):
            workers.touch(session, WorkerFacts(f"w-{queue}", "host", 1, "", queues=queue, slots=1, version="0"))
    assert "no worker" not in jarvis("runs", "show", ended.out.strip()).out
    assert jarvis("sec", "fast", "-p", tree, "--detach", "-q").err == ""


@pytest.mark.slow
@pytest.mark.usefixtures("environ")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_crate_of_a_paused_run_is_removed(
    jarvis: Jarvis, postgres_url: str, open_stores: Callable[..., Store], number: signal.Signals
) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})
    paused = store_conversion(jarvis, tree, Conversion(), state="paused", reason="budget", executor=EXECUTOR)
    store = open_stores(postgres_url)

    def kinds() -> dict[str, str]:
        with store.read() as session:
            return {run.kind: run.id for run in runs.starting_with(session, "", limit=9)}

    def is_waiting() -> bool:
        return any(row.state == "sent" for row in job_rows(store, kinds().get(PARTIAL_FAST, ""), "symbols", plan=True))

    with jarvis.start("runs", "export", paused, "-d", jarvis.place / "out", stderr=subprocess.PIPE) as process:
        until(is_waiting)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)

    assert (process.returncode, kinds()) == (130, {TRANSPILE: paused})
    assert err.decode().splitlines()[-2:] == [
        f"jarvis: run {paused} is paused (budget); no crate so far: interrupted; "
        f"continue with: jarvis runs resume {paused} --budget AMOUNT",
        "jarvis: interrupted",
    ]


@pytest.mark.usefixtures("environ")
@pytest.mark.slow
def test_the_doctor_warns_of_blobs_that_only_this_machine_sees(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [line for line in jarvis("doctor").out.splitlines() if " blobs " in line]
    assert found[0].startswith("! ")
    assert found[0].endswith("data/blobs, visible only on this machine")

    monkeypatch.setenv("JARVIS_BLOBS_URL", "/srv/blobs")
    found = [line for line in jarvis("doctor").out.splitlines() if " blobs " in line]
    assert [line.split() for line in found] == [["✓", "blobs", "/srv/blobs"]]


@pytest.mark.slow
@pytest.mark.usefixtures("environ")
def test_a_worker_says_once_that_only_this_machine_sees_its_blobs(jarvis: Jarvis, tmp_path: Path) -> None:
    process = jarvis.start("worker", "start", "--queues", "control", stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
    finally:
        process.terminate()
        rest = process.communicate(timeout=240)[1].decode()

    assert " WARNING worker says=" in said
    assert f"JARVIS_BLOBS_URL is not set: only runs submitted on this machine find {tmp_path}/data/blobs" in said
    assert "JARVIS_BLOBS_URL" not in rest
