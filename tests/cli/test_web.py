"""`jarvis web`: the same runs and verdicts as in the terminal, users and tokens, and the server itself."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from flask.testing import FlaskClient

from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.sec.triage.queue import current_user
from jarvis_workers.sec.triage.records import stored_judgements
from jarvis_workers.settings import load_settings
from jarvis_workers.store.engine import Store
from jarvis_workers.web.access.sign_in import sign_in_of
from jarvis_workers.web.app import create_app
from jarvis_workers.web.background_runs import BackgroundRuns
from jarvis_workers.web.context import WebContext
from tests.agents.loop.server import ModelServer, calls, says
from tests.cli.commands import COPY, Jarvis
from tests.cli.test_agent import model
from tests.cli.test_sec_agent import set_models
from tests.support.judging import judge
from tests.web.sample import TOKEN, csrf_token, signed_in


@contextmanager
def page(jarvis: Jarvis) -> Iterator[tuple[FlaskClient, Store]]:
    """A signed-in client of the page over the store of the commands, as `jarvis web` serves it."""
    settings = load_settings(directory=jarvis.place)
    with wiring.store_of(settings) as store:
        sign_in, api_tokens = sign_in_of(settings.web, TOKEN, current_user())
        background = BackgroundRuns(settings, store)
        blobs = blobs_of(settings)
        world = WebContext(settings, store, blobs, background, sign_in, api_tokens, hosts=("localhost",))
        yield signed_in(create_app(world)), store


@pytest.mark.slow
def test_triage_in_the_page_and_in_the_terminal_are_the_same_rows(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY, "b.c": COPY.replace("f(", "g(")})
    jarvis("sec", "fast", "src", "-q")
    with page(jarvis) as (client, store):
        places = re.findall(r'href="(/runs/\w+/findings/\w+)"', client.get("/runs/last").text)
        first, second = (place.rpartition("/")[2] for place in places[:2])
        form = {"csrf_token": csrf_token(client, places[0]), "verdict": "false", "reason": "said in the page"}
        client.post(f"{places[0]}/triage", data=form)
        listed = jarvis("sec", "triage", "last", "--list").out
        jarvis("sec", "triage", "last", "--mark", f"{second}=wontfix", "--reason", "said in the terminal")
        shown = client.get(places[1]).text

        assert re.search(rf"{first} +false .*said in the page", listed)
        assert "said in the terminal" in shown and "won&#39;t fix" in shown
        assert {one.by for one in stored_judgements(store).values()} == {current_user()}
        jarvis("sec", "triage", "--undo")
        jarvis("sec", "triage", "--undo")
        assert stored_judgements(store) == {}


@pytest.mark.slow
def test_a_verdict_of_a_model_is_shown_with_its_conversation(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY})
    with ModelServer(forever=lambda body: judge(body, always="confirmed")) as server:
        set_models(jarvis, m=server)
        jarvis("sec", "agent", "-p", "src", "-q")
    with page(jarvis) as (client, _):
        run = client.get("/runs/last").text
        finding = client.get(re.findall(r'href="(/runs/\w+/findings/\w+)"', run)[0]).text
        talk = re.findall(r'href="(/runs/\w+/conversations/\d+)"', finding)[0]

        assert "tokens</a>" in run and '<span class="status confirmed">' in run
        assert "Preconditions" in finding and "Trigger path" in finding
        assert "strcpy" in client.get(talk).text
        assert talk in client.get(talk.rpartition("/")[0]).text


@pytest.mark.slow
def test_the_answer_of_an_agent_is_shown(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY})
    with ModelServer(calls("read_code", path="a.c"), says("f copies <b>without</b> a bound.")) as server:
        model(jarvis, server)
        jarvis("agent", "-T", "What does f do?", "-p", "src")
    with page(jarvis) as (client, _):
        assert "f copies &lt;b&gt;without&lt;/b&gt; a bound." in client.get("/runs/last").text
        talks = client.get("/runs/last/conversations").text
        talk = re.findall(r'href="(/runs/\w+/conversations/\d+)"', talks)[0]
        assert "calls read_code" in client.get(talk).text


def test_lines_of_users_and_tokens_are_made(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    token = jarvis("web", "token", "ci", "--role", "editor")
    (tmp_path / "password").write_text("correct horse\n")
    with (tmp_path / "password").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        user = jarvis("web", "user", "ann")

    assert token.out.startswith("ci:editor:") and len(token.err.strip()) == 43 and token.err.strip() not in token.out
    assert user.out.startswith("ann:viewer:scrypt:") and "correct horse" not in user.out


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("web", "token", "a b"), "a name should have"),
        (("web", "token", "ci", "--role", "root"), "viewer or editor"),
        (("web", "--host", "0.0.0.0"), "--allow-remote-token"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(jarvis: Jarvis, command: tuple[str, ...], problem: str) -> None:
    ended = jarvis(*command)

    assert ended.code == 2 and problem in ended.line


@pytest.mark.slow
@pytest.mark.timing
def test_the_server_serves_until_it_is_terminated(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY})
    jarvis("sec", "fast", "src", "-q")
    command = [sys.executable, "-m", "jarvis_cli", "web", "--port", "0"]
    with subprocess.Popen(command, cwd=jarvis.place, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = server.stderr.readline().strip()
        browser = build_opener(HTTPCookieProcessor(CookieJar()))
        with browser.open(address, timeout=60) as answer:
            assert answer.url == f"{address.partition('/?token=')[0]}/runs" and b"sec.fast" in answer.read()
        with browser.open(f"{address.partition('/?token=')[0]}/healthz", timeout=60) as answer:
            assert (answer.read(), answer.headers.get("Server")) == (b"ok\n", None)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(("proxies", "secure"), [("127.0.0.1", True), ("192.0.2.1", False)])
def test_cookies_are_for_https_alone_behind_a_trusted_proxy_with_https(
    jarvis: Jarvis, proxies: str, secure: bool
) -> None:
    environment = os.environ | {"JARVIS_WEB__TRUSTED_PROXIES": proxies}
    command = [sys.executable, "-m", "jarvis_cli", "web", "--port", "0"]
    with subprocess.Popen(command, cwd=jarvis.place, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = urlsplit(server.stderr.readline().strip())
        with closing(HTTPConnection(address.netloc, timeout=60)) as connection:
            connection.request("GET", f"/?{address.query}", headers={"X-Forwarded-Proto": "https"})
            cookie = connection.getresponse().headers["Set-Cookie"]
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0

    assert ("; Secure" in cookie) is secure
