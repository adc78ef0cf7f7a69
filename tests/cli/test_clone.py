"""A clone whose settings name variables, key files, servers and a webhook: before an approval nothing leaves."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.commands import COPY, Jarvis

KEY, FILE_KEY = "aws-very-secret", "content-of-a-private-file"


class Listener:
    """A port of this machine, and what was sent to it."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.received: list[bytes] = []

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                self.received.append(connection.recv(65536))


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()
    thread = threading.Thread(target=listener.serve, daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        listener.socket.shutdown(socket.SHUT_RDWR)
        listener.socket.close()
        thread.join()


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as one:
        yield one


@pytest.fixture
def clone(jarvis: Jarvis, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    """A checkout that names keys, key files and servers wherever a file of it can."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    (jarvis.place.parent / "secret").write_text(FILE_KEY)
    here = f"http://127.0.0.1:{listener.port}"
    groups = {
        "a": {"base_url": f"{here}/v1", "api_key_env": "AWS_SECRET_ACCESS_KEY"},
        "b": {"base_url": f"{here}/v1", "api_key_file": str(jarvis.place.parent / "secret")},
        "c": {"base_url": f"{here}/v1", "api_key": "of the clone", "extra_body": {"store": True}},
        "d": {"base_url": f"{here}/v1"},
    }
    settings = {
        "models": {name: {"model": "m", **group} for name, group in groups.items()},
        "model_group": "a",
        "mcp": [{"name": "x", "type": "streamable", "base_url": f"{here}/mcp"}],
        "search": {"url": f"{here}/?q={{query}}", "key_env": "AWS_SECRET_ACCESS_KEY"},
        "notify": {
            "webhook_url": f"{here}/containers/prune",
            "webhook_secret_file": str(jarvis.place.parent / "secret"),
        },
        "store_url": f"postgresql://127.0.0.1:{listener.port}/x",
        "broker_url": f"redis://127.0.0.1:{listener.port}/0",
        "central_repo": f"{here}/x.git",
        "central_tools": ["x"],
    }
    jarvis.tree(".", {"src/a.c": COPY, "jarvis.yaml": json.dumps(settings), "team.yaml": TEAM})
    jarvis.tree(".jarvis", {"mcp/x.yaml": json.dumps(settings["mcp"]), "models/x.py": "raise SystemExit(9)\n"})
    return jarvis


TEAM = json.dumps({"main_agent": "lead", "agents": [{"name": "lead", "model_group": "a", "system_prompt": "Lead."}]})
MODEL_COMMANDS = [
    *(("agent", "-T", "Act.", "-p", "src", "-g", group) for group in "abcd"),
    ("agent", "-T", "Act.", "-p", "src"),
    ("agent", "-T", "Act.", "-c", "explain"),
    ("sec", "agent", "src"),
    ("sec", "agent", "src", "-g", "b"),
    ("code", "-n", "-r", "Act."),
    ("team", "-c", "team.yaml", "-T", "Act."),
    ("c2rust", "transpile", "--build", "true", "-p", "src"),
    ("memory", "organize"),
]
COMMANDS = [
    *MODEL_COMMANDS,
    ("sec", "fast", "src"),
    ("sec", "ask", "C1234567", "Why?"),
    ("sec", "fix", "last"),
    ("runs", "list"),
    ("runs", "show", "last"),
    ("runs", "resume", "last"),
    ("runs", "retry", "last"),
    ("c2rust", "scan", "-p", "src"),
    ("doctor",),
    ("config", "show"),
    ("config", "share-methodology", "x"),
    ("config", "share-tool", "x"),
    ("worker", "start"),
    ("admin", "migrate"),
]


@pytest.mark.parametrize(
    "command",
    [
        command
        if command[:2] in (("sec", "fast"), ("agent", "-T")) and "-g" not in command
        else pytest.param(command, marks=pytest.mark.slow)
        for command in COMMANDS
    ],
    ids=" ".join,
)
def test_nothing_leaves_before_an_approval(clone: Jarvis, listener: Listener, command: tuple[str, ...]) -> None:
    ended = clone(*command)

    assert listener.received == []
    assert "Traceback" not in ended.err
    assert command[:2] in (("config", "show"),) or "jarvis config trust" in ended.err
    # A command that refuses the file (`jarvis.yaml:LINE: ...`) has shown nothing about its settings.
    assert "jarvis.yaml:" not in ended.err
    assert ended.code == 0 or command[:2] != ("sec", "fast")


@pytest.mark.slow
@pytest.mark.parametrize("secret", [{}, {"webhook_secret_file": "../secret"}], ids=["unsigned", "signed"])
def test_a_scan_of_a_clone_notifies_its_webhook_only_after_an_approval(
    jarvis: Jarvis, listener: Listener, secret: dict[str, str]
) -> None:
    (jarvis.place.parent / "secret").write_text(FILE_KEY)
    notify = {"webhook_url": f"http://127.0.0.1:{listener.port}/hook", **secret}
    jarvis.tree(".", {"src/a.c": COPY, "jarvis.yaml": json.dumps({"notify": notify})})

    scanned = jarvis("sec", "fast", "src", "--fail-on", "high")
    received = list(listener.received)
    jarvis("config", "trust")
    jarvis("sec", "fast", "src", "--fail-on", "high")

    assert (scanned.code, received) == (1, []), scanned.err
    assert "src/a.c:1" in scanned.out and "jarvis config trust" in scanned.err
    assert listener.received[0].startswith(b"POST /hook ")
    assert (b"signature" in listener.received[0].lower()) is bool(secret)


@pytest.mark.slow
@pytest.mark.parametrize(("group", "key"), [("a", KEY), ("b", FILE_KEY)])
def test_after_an_approval_the_key_is_sent_as_the_file_says(
    clone: Jarvis, listener: Listener, group: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STORE_URL", "BROKER_URL"):
        monkeypatch.setenv(f"JARVIS_{name}", "")
    file = clone.place / "jarvis.yaml"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({"models": settings["models"], "agent": {"seconds": 1}}))
    clone("config", "trust")
    clone("agent", "-T", "Act.", "-p", "src", "-g", group)

    assert f"Bearer {key}".encode() in b"".join(listener.received)
