"""The broker's address: both clients get the same server, database and user, or it is refused in one line."""

from pathlib import Path

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from kombu import pools

from jarvis_workers.errors import BrokerRefused
from jarvis_workers.executors.dispatch.broker import Notification, Notifier, make_app
from jarvis_workers.executors.dispatch.broker_errors import parse_broker_address
from jarvis_workers.executors.dispatch.routing import queue_key
from tests.support.servers import Redis

SECRET = "p@ss/w#r?d;x"
ENCODED = "p%40ss%2Fw%23r%3Fd%3Bx"
WRONG = {
    "nonsense": "not a Redis address; use redis://",
    "http://127.0.0.1:1/0": "not a Redis address; use redis://",
    "redis://host:port/0": "the host or port cannot be read",
    "redis://host:99999/0": "the host or port cannot be read",
    "redis://:se/cret@127.0.0.1/0": "the host or port cannot be read; percent-encode",
    "redis://:se#cret@127.0.0.1/0": "the host or port cannot be read; percent-encode",
    "redis://127.0.0.1:1/abc": "the database after the last / is not a number",
    "redis://127.0.0.1:1/0?db=1": "it names several databases",
    "redis://127.0.0.1:1/0?password=secret": 'unknown option "password" of redis://; known are db',
    "redis://127.0.0.1:1/1;redis://127.0.0.1:2/1": "a list of servers is not supported",
    "redis://127.0.0.1:1/1;sentinel://127.0.0.1:2/1": "must have the same scheme",
    "rediss://127.0.0.1:1/0?ssl_cert_reqs=x": 'ssl_cert_reqs="x" is none of required',
    "rediss://127.0.0.1:1/0?ssl_check_hostname=x": "is neither true nor false",
    "rediss://127.0.0.1:1/0?ssl_ca_certs=/absent.pem": 'ssl_ca_certs: there is no file "/absent.pem"',
    "redis://127.0.0.1:1/0?ssl_cert_reqs=none": 'unknown option "ssl_cert_reqs" of redis://',
    "redis+socket://": "a Unix socket is given as an absolute path",
    "unix://run/redis.sock": "a Unix socket is given as an absolute path",
    "sentinel://127.0.0.1:1/0": "sentinel:// needs the name of the master",
    "sentinel://:secret@a/0?master_name=m;sentinel://:other@b/0": "the same user and password",
    "sentinel://a/0?master_name=m;sentinel://b/0?master_name=m": '"master_name" is given more than once',
    "redis://127.0.0.1 :1/0": "the host or port cannot be read",
    "redis://%zz@h": "a % is not followed by two hexadecimal digits; write %25 for the character %",
    "redis://:secret%@h": "a % is not followed by two hexadecimal digits",
    "rediss://h/0?ssl_ca_certs=/a%2": "a % is not followed by two hexadecimal digits",
    "redis+socket:///run/%zz.sock": "a % is not followed by two hexadecimal digits",
    "sentinel://a/0?master_name=m;sentinel://%2/0": "a % is not followed by two hexadecimal digits",
    "redis://:secret%ff@h": "what is percent-encoded is not UTF-8",
}


@pytest.mark.parametrize("url", WRONG)
def test_a_wrong_address_is_refused_in_one_line_without_its_password(url: str) -> None:
    with pytest.raises(BrokerRefused) as problem:
        parse_broker_address(url)

    said = str(problem.value)
    assert said.startswith(f"JARVIS_BROKER_URL: {''}")
    assert WRONG[url] in said
    assert "\n" not in said
    assert not any(secret in said for secret in ("cret@", ":secret", "other"))


@pytest.mark.parametrize("zone", ["%eth0", "%25eth0"])
def test_the_zone_of_an_address_may_follow_a_percent_sign(zone: str) -> None:
    assert parse_broker_address(f"redis://[fe80::1{zone}]/0").hosts == (("fe80::1%eth0", 6379),)


def both_clients(url: str, server: Redis, database: int) -> None:
    """Assert that Celery's connection sends to the database of the server that our client reads."""
    pools.reset()
    notifier = Notifier(url)
    try:
        notifier.check()
        notifier.notify([Notification("sec.scan", "scan", n, "run", "a.c", 1.0, urgent=n == 2) for n in (1, 2)])
        assert notifier.depth("scan") == 2
        with redis.Redis(port=server.port, db=database) as client:
            assert client.llen(queue_key("scan")) == 2
            assert client.get("jarvis:probe") is None
    finally:
        notifier.close()
    server.flush()


@pytest.mark.parametrize(
    ("form", "database"),
    [
        ("redis://127.0.0.1:{port}", 0),
        ("redis://127.0.0.1:{port}/2", 2),
        ("redis://127.0.0.1:{port}/2/", 2),
        ("redis://127.0.0.1:{port}?db=2", 2),
        ("redis+socket://{socket}", 0),
        ("redis+socket://{socket}?virtual_host=2", 2),
        ("unix://{socket}?db=2", 2),
        ("redis://user:{password}@127.0.0.1:{port}/1", 1),
        ("unix://user:{password}@{socket}?db=1", 1),
    ],
)
def test_both_clients_reach_the_same_database(form: str, database: int, redis_here: Redis) -> None:
    with redis.Redis(port=redis_here.port) as client:
        client.execute_command("ACL", "SETUSER", "user", "on", f">{SECRET}", "~*", "&*", "+@all")
    url = form.format(port=redis_here.port, socket=redis_here.socket, password=ENCODED)

    both_clients(url, redis_here, database)


def test_a_variable_of_celery_does_not_change_the_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CELERY_BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL"):
        monkeypatch.setenv(name, "redis://elsewhere:1/5")
    app = make_app("redis://here:2/3")

    for connection in (app.connection(), app.connection_for_read(), app.connection_for_write(), app.pool.connection):
        assert (connection.hostname, connection.port, connection.virtual_host) == ("here", 2, "3")


@pytest.mark.parametrize("demand", ["required", "CERT_REQUIRED", "optional", "CERT_OPTIONAL", "none", "CERT_NONE"])
def test_options_of_tls_reach_both_clients(demand: str, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    address = parse_broker_address(f"rediss://host/0?ssl_cert_reqs={demand}&ssl_ca_certs={tmp_path}/ca.pem")

    celery = address.celery_settings({})["broker_use_ssl"]
    ours = address.client(1.0).connection_pool.connection_kwargs
    assert celery["ssl_cert_reqs"] == ours["ssl_cert_reqs"] == demand.removeprefix("CERT_").lower()
    assert celery["ssl_ca_certs"] == ours["ssl_ca_certs"] == str(tmp_path / "ca.pem")


def test_an_address_is_shown_without_user_and_password() -> None:
    url = f"sentinel://user:{ENCODED}@a:1;sentinel://user:{ENCODED}@b/2?master_name=m&sentinel_password=hidden"
    address = parse_broker_address(url)

    assert str(address) == "sentinel://a:1;sentinel://b:26379/2?master_name=m"
    assert not any(secret in repr(address) for secret in (SECRET, ENCODED, "hidden", "user"))
    assert (address.username, address.password) == ("user", SECRET)


@given(st.text(alphabet="redis:/@;?#=%0123456789[]. \nabcdb+unxtl_", max_size=60))
def test_any_text_is_an_address_or_one_line(text: str) -> None:
    for url in (text, f"redis://{text}", f"sentinel://{text}"):
        try:
            address = parse_broker_address(url)
        except BrokerRefused as error:
            assert "\n" not in str(error)
        else:
            assert (
                parse_broker_address(address.celery_settings({})["broker_url"].split(";")[0] + _master(address))
                is not None
            )


def _master(address: object) -> str:
    return "?master_name=m" if str(address).startswith("sentinel:") else ""
