"""Check a cluster: broker, workers, versions, clocks, and stuck runs."""

import time
from collections.abc import Callable, Mapping

from jarvis_workers import __version__
from jarvis_workers.errors import BrokerRefused, JarvisError
from jarvis_workers.executors.dispatch.routing import POOLS
from jarvis_workers.executors.dispatch.routing import connections as wanted
from jarvis_workers.runs.health.delays import LEAST_AHEAD_SECONDS, STEP_REMEDY, delays, describe_step
from jarvis_workers.runs.health.doctor import REFUSED_REMEDY, Check
from jarvis_workers.store import connections, runs, stages, workers
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import WorkerFacts
from jarvis_workers.words import ENGLISH

MOST_SKEW_SECONDS = 2.0
STUCK_TICKS = 30
NEARLY_FULL = 0.9
SAFE_EVICTION = "noeviction"


def examine_cluster(
    store: Store, describe_broker: Callable[[], Mapping[str, str]], *, lease_seconds: float, tick_seconds: float
) -> list[Check]:
    """Check all prerequisites of a run on workers. `describe_broker` raises BrokerUnavailable."""
    with store.read() as session:
        living = workers.living(session, lease_seconds)
    return [
        *_broker(describe_broker),
        *(_queue(queue, living) for queue in POOLS),
        _versions(living),
        _clock(store),
        *_connections(store, living),
        *_stuck(store, STUCK_TICKS * tick_seconds),
    ]


def _broker(describe: Callable[[], Mapping[str, str]]) -> list[Check]:
    try:
        facts = describe()
    except BrokerRefused as error:
        return [Check("broker", "fail", str(error), REFUSED_REMEDY)]
    except JarvisError as error:
        return [Check("broker", "fail", str(error), "start Redis, or set JARVIS_BROKER_URL")]
    result = [_memory(facts)]
    if facts["eviction"] == SAFE_EVICTION:
        result.append(Check("eviction", "ok", SAFE_EVICTION))
    else:
        remedy = "set maxmemory-policy noeviction; an evicted notification is sent again later"
        result.append(Check("eviction", "warn", f"{facts['eviction']}: messages may be dropped", remedy))
    if facts["persistence"] == "none":
        remedy = "set appendonly yes: notifications then survive a restart"
        result.append(Check("persistence", "warn", "none: a restart loses all messages", remedy))
    else:
        result.append(Check("persistence", "ok", facts["persistence"]))
    return result


def _memory(facts: Mapping[str, str]) -> Check:
    """Check the memory of Redis: when it is full it rejects messages, and workers fail on the error."""
    says, share = f"Redis {facts['version']}, {facts['memory']}", float(facts["share"])
    if share < NEARLY_FULL:
        return Check("broker", "ok", says)
    remedy = "raise maxmemory, or remove other data from it"
    return Check("broker", "fail" if share >= 1 else "warn", f"{says}, {share:.0%} of its maxmemory", remedy)


def own_blobs(place: str) -> Check:
    """Warn about the default blob store, which is local to this machine."""
    remedy = "set the same JARVIS_BLOBS_URL here and on all workers, unless this machine is the whole cluster"
    return Check("blobs", "warn", f"{place}, visible only on this machine", remedy)


def _queue(queue: str, living: list[WorkerFacts]) -> Check:
    slots = [worker.slots for worker in living if worker.queues == queue]
    if slots:
        return Check(
            f"queue {queue}", "ok", f"{ENGLISH.count(len(slots), 'worker')}, {ENGLISH.count(sum(slots), 'slot')}"
        )
    return Check(f"queue {queue}", "fail", "no worker", f"start one: jarvis worker start --queues {queue}")


def _versions(living: list[WorkerFacts]) -> Check:
    others = sorted({worker.version for worker in living} - {__version__})
    if others:
        return Check(
            "versions", "warn", f"workers run {', '.join(others)}, but this is {__version__}", "upgrade them all"
        )
    return Check("versions", "ok", __version__)


def _clock(store: Store) -> Check:
    skew = store.now() - time.time()
    if abs(skew) > MOST_SKEW_SECONDS:
        return Check(
            "clock",
            "warn",
            f"the database clock is {skew:+.1f} s off",
            "run NTP on both machines; leases use the database clock",
        )
    with store.read() as session:
        ahead = runs.seconds_ahead(session)
    if ahead > LEAST_AHEAD_SECONDS:
        return Check("clock", "warn", describe_step(ahead), STEP_REMEDY)
    return Check("clock", "ok", f"{skew:+.2f} s from the database's")


def _connections(store: Store, living: list[WorkerFacts]) -> list[Check]:
    """Compare the connections that workers may open (one per parent, plus their pools) with the server's maximum."""
    with store.read() as session:
        usage = connections.in_use(session)
    if usage is None:
        return []
    parents = {worker.id.rpartition("-")[0] for worker in living}
    most = len(parents) + sum(wanted(worker.queues, worker.slots) for worker in living if worker.queues in POOLS)
    says = f"{usage[0]} of {usage[1]} in use; these workers take up to {most}"
    if most > usage[1]:
        remedy = "raise max_connections of PostgreSQL, or use a connection pooler"
        return [Check("connections", "warn", says, remedy)]
    return [Check("connections", "ok", says)]


def _stuck(store: Store, seconds: float) -> list[Check]:
    """List the active runs without progress for a long time."""
    result = []
    with store.read() as session:
        for run_id, quiet in runs.stalled(session, seconds):
            stage = next((one for one in stages.progress(session, run_id) if one.state == "open"), None)
            waiting = stage.jobs - stage.done - stage.failed - stage.running if stage else 0
            says = f"no progress for {quiet:,.0f} s; stage {stage.name if stage else '?'}, {waiting:,} jobs waiting"
            says = "; ".join([says, *delays(store, run_id)])
            remedy = f"are workers running? see: jarvis runs show {run_id}"
            result.append(Check(f"run {run_id}", "warn", says, remedy))
    return result
