"""Errors of Redis as one line: an outage, which passes by itself, or a refusal, which lasts until somebody acts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

import redis
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationWrongNumberOfArgsError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    OutOfMemoryError,
)
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError, Sentinel

from jarvis_workers.constraints import percent_error
from jarvis_workers.errors import BrokerRefused, BrokerUnavailable, clause

# The broker's address, parsed once: Celery's connection and our own client are made from the same value.

SETTING = "JARVIS_BROKER_URL"
FORMS = "redis://localhost:6379/0, rediss://…, redis+socket:///run/redis.sock or sentinel://host:26379/0?master_name=…"
# The scheme of an address, and the transport of Celery that it stands for.
TRANSPORTS = {
    "redis": "redis",
    "rediss": "rediss",
    "redis+socket": "redis+socket",
    "unix": "redis+socket",
    "sentinel": "sentinel",
}
PORTS = {"redis": 6379, "rediss": 6379, "sentinel": 26379}
DATABASES = ("db", "virtual_host")
# The names of redis-py, and those that Celery documents.
CERTIFICATES = {
    "required": "required",
    "optional": "optional",
    "none": "none",
    "CERT_REQUIRED": "required",
    "CERT_OPTIONAL": "optional",
    "CERT_NONE": "none",
}
TLS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
# The option that each transport has beside the number of the database.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "rediss": (*TLS_FILES, "ssl_cert_reqs", "ssl_check_hostname"),
    "sentinel": ("master_name", "sentinel_username", "sentinel_password"),
}
ENCODE = "percent-encode special characters of the password: %2F for /, %23 for #, %3F for ?, %40 for @, %3B for ;"


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Where the broker is: `hosts` are of the server or its sentinels; a server on a Unix socket has a `path`."""

    transport: str
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    database: int = 0
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    tls: Mapping[str, Any] = field(default_factory=dict)
    master_name: str = ""
    sentinel_login: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        """Return the address for messages, without user and password."""
        if self.path:
            return f"{self.transport}://{self.path}?virtual_host={self.database}"
        master = f"?master_name={self.master_name}" if self.master_name else ""
        return ";".join(f"{self.transport}://{_place(*one)}" for one in self.hosts) + f"/{self.database}{master}"

    def celery_settings(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a Celery app; `options` are those of its transport, time limits among them."""
        transport = dict(options)
        if self.transport == "sentinel":
            limits = {name: value for name, value in options.items() if name.startswith("socket_")}
            transport |= {"master_name": self.master_name, "sentinel_kwargs": {**limits, **self.sentinel_login}}
        tls = {"broker_use_ssl": dict(self.tls)} if self.tls else {}
        return {"broker_url": self._celery_url(), "broker_transport_options": transport, **tls}

    def _celery_url(self) -> str:
        login = f"{_quoted(self.username)}:{_quoted(self.password)}@" if self.username or self.password else ""
        if self.path:
            return f"{self.transport}://{login}{quote(self.path)}?virtual_host={self.database}"
        return ";".join(f"{self.transport}://{login}{_place(*one)}/{self.database}" for one in self.hosts)

    def client(self, timeout_seconds: float) -> Redis:
        """Return a client without retries, since callers repeat their calls at the next tick; it connects lazily."""
        limits: dict[str, Any] = {"socket_timeout": timeout_seconds, "socket_connect_timeout": timeout_seconds}
        login: dict[str, Any] = {"db": self.database, "username": self.username, "password": self.password}
        once: dict[str, Any] = {"retry": Retry(NoBackoff(), 0)}
        if self.transport == "sentinel":
            options = {**limits, **once, **self.sentinel_login}
            sentinels = Sentinel(self.hosts, sentinel_kwargs=options, **limits)  # type: ignore[no-untyped-call]
            return sentinels.master_for(self.master_name, **login, **limits, **once)  # type: ignore[no-untyped-call, no-any-return]
        if self.path:
            return Redis(unix_socket_path=self.path, **login, **limits, **once)
        ((host, port),) = self.hosts
        return Redis(host, port, ssl=self.transport == "rediss", **self.tls, **login, **limits, **once)


def parse_broker_address(url: str) -> BrokerAddress:
    """Parse the broker's address. Raises BrokerRefused with one line, without the password, if it cannot be used."""
    parts = [_split(part) for part in url.split(";")]
    transport = TRANSPORTS[parts[0].scheme]
    if any(part.scheme != parts[0].scheme for part in parts):
        raise _wrong("all addresses of a list must have the same scheme")
    if len(parts) > 1 and transport != "sentinel":
        raise _wrong("a list of servers is not supported, since Redis does not fail over by itself; use sentinel://")
    query = _query(transport, parts)
    login = {(part.username, part.password) for part in parts if part.username or part.password}
    if len(login) > 1:
        raise _wrong("all sentinels must be given with the same user and password, those of Redis")
    username, password = ((value and unquote(value)) or None for value in next(iter(login), (None, None)))
    common = {"database": _database(transport, parts, query), "username": username, "password": password}
    if transport == "redis+socket":
        return BrokerAddress(transport, path=_socket_path(parts[0]), **common)  # type: ignore[arg-type]
    hosts = tuple(_host(part, PORTS[transport]) for part in parts)
    if transport == "sentinel":
        if not query.get("master_name"):
            raise _wrong("sentinel:// needs the name of the master: sentinel://host:26379/0?master_name=mymaster")
        sentinel = {name.removeprefix("sentinel_"): value for name, value in query.items() if "sentinel_" in name}
        return BrokerAddress(transport, hosts, master_name=query["master_name"], sentinel_login=sentinel, **common)  # type: ignore[arg-type]
    return BrokerAddress(transport, hosts, tls=_tls(query) if transport == "rediss" else {}, **common)  # type: ignore[arg-type]


def _wrong(why: str) -> BrokerRefused:
    return BrokerRefused(f"{SETTING}: {why}")


def _split(part: str) -> SplitResult:
    scheme, found, rest = part.partition("://")
    if not found or scheme not in TRANSPORTS:
        raise _wrong(f"not a Redis address; use {FORMS}")
    try:
        # The semantics of http: for an unknown scheme, the user and the query may be left in the path.
        parts = urlsplit(f"http://{rest}")._replace(scheme=scheme)
        usable = not parts.fragment and parts.port != 0 and "@" not in (parts.hostname or "")
    except ValueError as error:
        raise _wrong(f"the host or port cannot be read; {ENCODE}") from error
    if problem := percent_error(part):
        raise _wrong(problem)
    if not usable or any(character.isspace() or not character.isprintable() for character in part):
        raise _wrong(f"the host or port cannot be read; {ENCODE}")
    return parts


def _query(transport: str, parts: list[SplitResult]) -> dict[str, str]:
    """Return the options of an address; in a list, each may be given once, at any of its parts."""
    pairs = [pair for part in parts for pair in parse_qsl(part.query, keep_blank_values=True)]
    names = (*DATABASES, *OPTIONS.get(transport, ()))
    for name, _ in pairs:
        if name not in names:
            raise _wrong(f'unknown option "{name}" of {transport}://; known are {", ".join(names)}')
        if [one for one, _ in pairs].count(name) > 1:
            raise _wrong(f'the option "{name}" is given more than once')
    return dict(pairs)


def _database(transport: str, parts: list[SplitResult], query: Mapping[str, str]) -> int:
    paths = [] if transport == "redis+socket" else [part.path.strip("/") for part in parts]
    given = {value for value in (*paths, *(query[name] for name in DATABASES if name in query)) if value}
    if len(given) > 1:
        raise _wrong("it names several databases; the number of the database is given once, as in redis://host:6379/1")
    text = next(iter(given), "0")
    if not (text.isascii() and text.isdigit()):
        raise _wrong("the database after the last / is not a number such as 0")
    return int(text)


def _socket_path(part: SplitResult) -> str:
    if part.hostname or not part.path.strip("/"):
        raise _wrong("a Unix socket is given as an absolute path: redis+socket:///run/redis.sock?virtual_host=0")
    return unquote(part.path)


def _host(part: SplitResult, port: int) -> tuple[str, int]:
    return unquote(part.hostname or "localhost"), part.port or port


def _tls(query: Mapping[str, str]) -> dict[str, Any]:
    demand = query.get("ssl_cert_reqs", "required")
    if demand not in CERTIFICATES:
        raise _wrong(f'ssl_cert_reqs="{demand}" is none of {", ".join(CERTIFICATES)}')
    checks = query.get("ssl_check_hostname", "true").lower()
    if checks not in ("true", "false"):
        raise _wrong(f'ssl_check_hostname="{checks}" is neither true nor false')
    files = {name: query[name] for name in TLS_FILES if name in query}
    for name, file in files.items():
        if not Path(file).is_file():
            raise _wrong(f'{name}: there is no file "{file}"')
    return {"ssl_cert_reqs": CERTIFICATES[demand], "ssl_check_hostname": checks == "true", **files}


def _place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _quoted(text: str | None) -> str:
    return quote(text or "", safe="")


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
