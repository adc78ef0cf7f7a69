"""A refusal of Redis lasts until somebody acts: it is told with what to grant, not as a Redis that may not run."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import redis

from jarvis_workers.errors import BrokerRefused, BrokerUnavailable
from jarvis_workers.executors.dispatch.broker import PROBE, Notification, Notifier
from jarvis_workers.executors.dispatch.outages import Outages
from jarvis_workers.executors.dispatch.ratelimit.client import SharedLimits
from jarvis_workers.models.ratelimit.policy import ModelKey, RateLimitPolicy
from tests.cli.commands import JOINED
from tests.runs.redis_user import acl_line
from tests.support.servers import Redis, free_port, redis_server

USER, PASSWORD = "limited", "sesame"
MESSAGE = Notification("sec.scan", "scan", 1, "run", "a.c", 1.0, urgent=True)


@contextmanager
def user_without(server: Redis, *commands: str) -> Iterator[str]:
    """Create a user with the documented permissions but for some commands; yield the address."""
    with redis.Redis(port=server.port) as client:
        words = [word for word in acl_line(USER, PASSWORD) if word.removeprefix("+") not in commands]
        client.execute_command(*words)
        try:
            yield f"redis://{USER}:{PASSWORD}@127.0.0.1:{server.port}/0"
        finally:
            client.execute_command("ACL", "DELUSER", USER)


def refusal(url: str, action: Callable[[Notifier], object]) -> str:
    """Return the line with which an action of a notifier is refused."""
    notifier = Notifier(url)
    try:
        with pytest.raises(BrokerRefused) as problem:
            action(notifier)
    finally:
        notifier.close()
    said = str(problem.value)
    assert said.endswith("JARVIS_BROKER_URL")
    assert not any(hidden in said for hidden in ("\n", "running?", PASSWORD)) and not JOINED.search(said)
    return said


ACTIONS: dict[str, Callable[[Notifier], object]] = {
    "check": Notifier.check,
    "describe": Notifier.describe,
    "notify": lambda notifier: notifier.notify([MESSAGE]),
}


def test_the_documented_permissions_suffice(redis_here: Redis) -> None:
    with user_without(redis_here) as url:
        notifier = Notifier(url)
        for action in ACTIONS.values():
            action(notifier)
        assert notifier.depth("scan") == 1
        notifier.close()


@pytest.mark.parametrize("command", sorted({words[0].lower().replace(" ", "|") for words in PROBE}))
def test_a_command_that_is_missing_is_named_at_the_start(command: str, redis_here: Redis) -> None:
    with user_without(redis_here, command) as url:
        said = refusal(url, Notifier.check)
    assert f"'{command}' command" in said
    assert '; grant this user the commands and keys of "Permissions" in docs/cluster.md' in said


@pytest.mark.parametrize(("command", "action"), [("info", "describe"), ("evalsha", "notify"), ("lpush", "notify")])
def test_a_command_that_is_missing_later_is_named_too(command: str, action: str, redis_here: Redis) -> None:
    with user_without(redis_here, command) as url:
        assert "docs/cluster.md" in refusal(url, ACTIONS[action])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("place", "says"),
    [
        (f"{USER}:wrong@127.0.0.1:{{port}}/0", "check the user and the password in"),
        ("127.0.0.1:{port}/16", 'exceeds the setting "databases" of Redis; correct it in'),
    ],
)
def test_a_wrong_user_or_database_is_told(place: str, says: str, action: str, redis_here: Redis) -> None:
    assert says in refusal(f"redis://{place.format(port=redis_here.port)}", ACTIONS[action])


def test_a_server_that_wants_a_password_says_so() -> None:
    with redis_server() as server, redis.Redis(port=server.port) as client:
        client.config_set("requirepass", PASSWORD)
        assert "check the user and the password in" in refusal(server.url, Notifier.check)


@pytest.mark.parametrize("action", ["check", "notify"])
def test_a_full_server_says_what_to_raise(action: str, redis_here: Redis) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.config_set("maxmemory", "1mb")
        try:
            said = refusal(redis_here.url, ACTIONS[action])
        finally:
            client.config_set("maxmemory", 0)
    assert "raise maxmemory of Redis" in said


def test_a_replica_is_named_at_the_start() -> None:
    with redis_server() as server, redis.Redis(port=server.port) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", str(free_port()))
        notifier = Notifier(server.url)
        with pytest.raises(BrokerUnavailable, match="a replica takes no messages: after a failover, name the master"):
            notifier.check()
        notifier.close()


def test_a_refusal_of_the_rate_limits_is_told_as_one(redis_here: Redis) -> None:
    with user_without(redis_here, "script|load") as url:
        limits = SharedLimits(url, "holder")
        limits.limiter(ModelKey("http://model", "m"), RateLimitPolicy(concurrent=1))
        with pytest.raises(BrokerRefused, match=re.escape("docs/cluster.md")):
            limits._exchange()


def test_a_refusal_after_an_outage_is_told_again() -> None:
    said: list[str] = []
    outages = Outages(said.append, "waiting")
    for problem in (BrokerUnavailable("away"), BrokerUnavailable("away"), BrokerRefused("no"), BrokerRefused("no")):
        with outages.tolerated():
            raise problem
    assert said == ["away; waiting", "no; waiting"]


def test_a_server_that_is_away_is_one_sentence() -> None:
    notifier = Notifier(f"redis://127.0.0.1:{free_port()}/0")
    for action in ACTIONS.values():
        with pytest.raises(BrokerUnavailable) as problem:
            action(notifier)
        assert "; is Redis running? see" in str(problem.value) and not JOINED.search(str(problem.value))
    notifier.close()


def test_a_master_that_no_sentinel_knows_is_a_short_line() -> None:
    notifier = Notifier("sentinel://127.0.0.1:1/0?master_name=x")
    with pytest.raises(BrokerUnavailable) as problem:
        notifier.check()
    notifier.close()

    assert "No master found for 'x'; are Redis and its sentinels running" in str(problem.value)
    assert "<redis" not in str(problem.value)
