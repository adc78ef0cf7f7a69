"""Errors of Redis as one line: an outage, which passes by itself, or a refusal, which lasts until somebody acts."""

from collections.abc import Iterator

import redis
from redis.exceptions import (
    AuthenticationWrongNumberOfArgsError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
)
from redis.sentinel import MasterNotFoundError

from jarvis_workers.errors import BrokerRefused, BrokerUnavailable, clause
from jarvis_workers.executors.dispatch.broker_address import SETTING

UNTRUSTED_MARK = "certificate verify failed"
IS_IT_RUNNING = "is Redis running? see"
LOGIN = "check the user and the password in"
GRANT = 'grant this user the commands and keys of "Permissions" in docs/cluster.md, or name another user in'
NO_CLUSTER = "a Redis Cluster is not supported: name a single Redis in"
# What to do, by the class of an error, then by words of its message.
BY_CLASS: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((redis.AuthenticationError, AuthenticationWrongNumberOfArgsError), LOGIN),
    ((NoPermissionError,), GRANT),
    ((OutOfMemoryError,), "raise maxmemory of Redis, or remove other data from it; see"),
    ((MovedError, ClusterDownError), NO_CLUSTER),
    ((PermissionError,), "let this user open the socket, or name another in"),
)
BY_MARK = (
    ("db index is out of range", 'the number of the database exceeds the setting "databases" of Redis; correct it in'),
    ("invalid db index", 'the number of the database exceeds the setting "databases" of Redis; correct it in'),
    ("authenticationerror(", "check sentinel_username and sentinel_password in"),
    ("cluster mode", NO_CLUSTER),
    ("misconf", "Redis cannot save its data: look at its disk and its log; see"),
    ("acl failure in script", GRANT),
    ("can't run this command", GRANT),
    ("permission denied", "let this user open the socket, or name another in"),
    ("protected mode", "set a password or an ACL user in Redis, and add it to"),
)
# Answers that pass by themselves, as in a failover.
PASSING: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    ((MasterNotFoundError,), "are Redis and its sentinels running, and is master_name right? see"),
    ((redis.ReadOnlyError,), "a replica takes no messages: after a failover, name the master or its sentinels in"),
    ((redis.BusyLoadingError,), "Redis is loading its data; see"),
    ((redis.ResponseError,), "Redis answers with this error; see"),
)


def broker_error(error: Exception, where: str) -> BrokerUnavailable:
    """Return the error of an exchange with Redis, in one line with what to do; a BrokerRefused if it will last."""
    chain = list(_causes(error))
    # Behind the name of the master are the clients of redis-py, as Python writes them.
    says = f"{where}: {clause(str(error).partition(' : <redis.')[0]) or type(error).__name__}"
    if UNTRUSTED_MARK in str(error):
        return BrokerUnavailable(f"{says}; check ssl_ca_certs and the host name in {SETTING}")
    if remedy := _by_class(BY_CLASS, chain) or _by_mark(chain):
        return BrokerRefused(f"{says}; {remedy} {SETTING}")
    return BrokerUnavailable(f"{says}; {_by_class(PASSING, chain) or IS_IT_RUNNING} {SETTING}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes; kombu replaces those of Redis by its own."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _by_class(table: tuple[tuple[tuple[type[Exception], ...], str], ...], chain: list[BaseException]) -> str | None:
    return next((says for classes, says in table if any(isinstance(one, classes) for one in chain)), None)


def _by_mark(chain: list[BaseException]) -> str | None:
    text = " ".join(str(one).lower() for one in chain)
    return next((says for mark, says in BY_MARK if mark in text), None)
