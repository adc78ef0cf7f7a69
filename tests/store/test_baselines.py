"""What a baseline knew is kept with its run, and goes with it."""

from jarvis_workers.sec.store import baselines
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from tests.store.arrange import add_run


def test_a_baseline_comes_back_as_it_was_kept(store: Store) -> None:
    first, second = add_run(store), add_run(store)
    known = {f"{number:016x}": number for number in range(1, 12_001)}

    with store.write() as session:
        baselines.add(session, first, known)
        baselines.add(session, second, {})

    with store.read() as session:
        assert baselines.read(session, first) == known
        assert baselines.read(session, second) == {}


def test_a_baseline_goes_with_its_run(store: Store) -> None:
    run = add_run(store)
    with store.write() as session:
        baselines.add(session, run, {"0" * 16: 1})
        runs.finish(session, run, "done")

    with store.write() as session:
        assert runs.remove(session, run)
        assert baselines.read(session, run) == {}
