"""Programs and keys that a settings file of the current directory names: used only if a person trusts the file."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from jarvis_workers import api
from jarvis_workers.settings import load_settings, untrusted_programs
from jarvis_workers.settings.schema import FrozenSettings, Settings, WebSettings
from jarvis_workers.settings.trust import READ_PATHS, RESTRICTED, SERVER_ADDRESSES, WEB_ACCESS, decide
from tests.agents.loop.server import ModelServer, says
from tests.cli.commands import COPY, Jarvis
from tests.cli.terminal import ENTER, at_terminal

SAYS = (
    "jarvis: {file} of this directory is not trusted, so {have} no effect; read the file, then: jarvis config trust\n"
)
NOT_TRUSTED = SAYS.format(file="jarvis.yaml", have="mcp has")
pytest.importorskip("mcp")

ENDS = says("It is done.")
AGENT = ("agent", "-T", "Act.", "-p", "src")


@pytest.fixture
def note(jarvis: Jarvis) -> Path:
    """The file that an MCP server of `cloned` writes when it is started."""
    jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})
    return jarvis.place / "note"


def cloned(jarvis: Jarvis, server: ModelServer, note: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a jarvis.yaml with an MCP server; the model is the user's own."""
    start = f"open({str(note)!r}, 'a').write('x')"
    one = {"name": "raw", "type": "stdio", "command": sys.executable, "args": ["-c", start]}
    file = jarvis.place / "jarvis.yaml"
    file.write_text(json.dumps({"mcp": [one]}))
    for name, value in {"BASE_URL": server.url, "MODEL": "m", "API_KEY": "k"}.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    return file


def test_without_a_terminal_no_program_of_an_untrusted_file_is_started(
    jarvis: Jarvis, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(ENDS) as server:
        cloned(jarvis, server, note, monkeypatch)
        ended = jarvis(*AGENT, "-q")

    assert (ended.code, ended.out, ended.err) == (0, "It is done.\n", NOT_TRUSTED)
    assert not note.exists()


def test_trust_holds_until_the_file_changes_or_it_is_revoked(
    jarvis: Jarvis, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(ENDS) as server:
        file = cloned(jarvis, server, note, monkeypatch)
        trusted = jarvis("config", "trust")
        started = jarvis(*AGENT)
    shown = jarvis("config", "show", "mcp").out
    revoked = jarvis("config", "trust", "--revoke").out, jarvis("config", "show", "mcp").out
    file.write_text(file.read_text() + "\n")
    changed = jarvis("config", "show", "mcp").out

    assert trusted.out.startswith(f"jarvis.yaml is trusted, until it changes:\n  mcp: {sys.executable} -c open(")
    assert (note.read_text(), "is not trusted" in started.err) == ("x", False)
    assert shown.splitlines()[1].endswith("  jarvis.yaml")
    assert revoked[0] == "jarvis.yaml is not trusted\n"
    assert all(
        text.splitlines()[1].endswith("  default (jarvis.yaml is not trusted)") for text in (revoked[1], changed)
    )
    assert "nothing to change" in jarvis("config", "trust", "--revoke").err


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(("answer", "starts"), [("y", "xx"), ("", "")])
def test_at_a_terminal_a_person_is_asked_once(
    jarvis: Jarvis, note: Path, monkeypatch: pytest.MonkeyPatch, answer: str, starts: str
) -> None:
    with ModelServer(forever=ENDS) as server:
        cloned(jarvis, server, note, monkeypatch)
        with at_terminal(jarvis.place, *AGENT, columns=300, environ=os.environ) as terminal:
            terminal.wait_for(f"  mcp: {sys.executable} -c open(")
            terminal.wait_for("Trust this jarvis.yaml, until it changes? [y/N]: ")
            terminal.type(answer + ENTER)
            terminal.wait_for("It is done.")
            assert terminal.wait() == 0
        with at_terminal(jarvis.place, *AGENT, columns=300, environ=os.environ) as terminal:
            terminal.wait_for("It is done.")
            assert terminal.wait() == 0

    assert "Trust this" not in terminal.screen
    assert ("jarvis config trust" in terminal.screen) == (not starts)
    assert (note.read_text() if starts else "") == starts
    assert note.exists() == bool(starts)


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    "command",
    [
        ("sec", "ask", "C3fa81b", "Why?", "-q"),
        ("sec", "fix", "last", "-q"),
        ("runs", "resume", "last", "-q"),
        ("runs", "retry", "last", "-q"),
        ("c2rust", "scan", "-p", "none", "-q"),
        ("code", "-r", "Do it.", "-q"),
        (*AGENT, "-n"),
        ("agent", "-i", "-q", "-p", "none"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_quiet_command_asks_nobody_and_says_what_has_no_effect(jarvis: Jarvis, command: tuple[str, ...]) -> None:
    (jarvis.place / "jarvis.yaml").write_text(
        "central_tools: [x]\nagent: {after_tool_call_cb_dirs: [x]}\nnotify: {webhook_url: 'https://hook.example/x'}\n"
    )
    with at_terminal(jarvis.place, *command, columns=300, environ=os.environ) as terminal:
        terminal.type(ENTER)  # for a question, which would wait
        assert terminal.wait() != 0

    assert terminal.screen.count("jarvis.yaml of this directory is not trusted") == 1
    assert "Trust this" not in terminal.screen


@pytest.mark.slow
@pytest.mark.timing
def test_at_a_terminal_a_person_is_asked_about_servers(jarvis: Jarvis) -> None:
    (jarvis.place / "jarvis.yaml").write_text("broker_url: redis://:word@broker.example\n")
    with at_terminal(jarvis.place, "runs", "list", columns=300, environ=os.environ) as terminal:
        terminal.wait_for("  broker_url: redis://:***@broker.example")
        terminal.wait_for("Trust this jarvis.yaml, until it changes? [y/N]: ")
        terminal.type("y" + ENTER)
        assert terminal.wait() == 0

    assert jarvis.settings.broker_url == "redis://:word@broker.example"


def test_a_file_that_was_just_edited_is_trusted(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = jarvis.place.parent / "editor"
    editor.write_text('#!/bin/sh\nfor file; do :; done\necho "code: {gate: make test}" > "$file"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))
    (jarvis.place / "jarvis.yaml").write_text("code: {gate: make all}\n")
    before = jarvis.settings.code.gate
    jarvis("config", "edit")

    assert (before, jarvis.settings.code.gate) == (None, "make test")


def test_a_file_that_was_not_edited_stays_untrusted(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    (jarvis.place / "jarvis.yaml").write_text("code: {gate: make test}\n")
    jarvis("config", "edit")

    assert jarvis.settings.code.gate is None


@pytest.mark.parametrize("chosen", ["data", ""])
def test_a_clone_cannot_bring_decisions_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    clone, own = tmp_path / "clone", {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    clone.mkdir()
    (clone / "jarvis.yaml").write_text("data_dir: data\ncode: {gate: make test}\n")
    decide(clone / "jarvis.yaml", own, trusted=True)
    shutil.copytree(tmp_path / "own", clone / "data")

    assert load_settings(environ=own, directory=clone).code.gate == "make test"
    assert load_settings(environ={"JARVIS_DATA_DIR": chosen}, directory=clone).code.gate is None


@pytest.mark.parametrize("mode", [0o644, 0o666])
def test_a_decision_that_others_may_change_does_not_count(tmp_path: Path, mode: int) -> None:
    environ = {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.jarvis]\ncentral_tools = ["x"]\n')
    decide(file, environ, trusted=True)
    trusted = load_settings(environ=environ, directory=tmp_path).central_tools
    (record,) = (tmp_path / "own" / "trusted").iterdir()
    record.chmod(mode)

    assert (trusted, load_settings(environ=environ, directory=tmp_path).central_tools) == (("x",), ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write a file of root")
def test_a_file_of_root_is_trusted_by_other_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jarvis.yaml").write_text("code: {gate: make test}\n")
    gates = []
    for user, owner in ((0, 0), (1000, 0), (1000, 1000)):
        os.chown(tmp_path / "jarvis.yaml", owner, owner)
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        gates.append(load_settings(environ={"JARVIS_DATA_DIR": str(tmp_path / "own")}, directory=tmp_path).code.gate)

    assert gates == [None, "make test", None]


GATEWAY = {"model": "m", "base_url": "https://models.example/v1", "api_key_env": "SOME_SECRET"}
# Settings with text that names no server, key, program or file, and what it is instead.
NEEDS_NO_TRUST = {
    "scan.extensions": "suffixes",
    "scan.exclude_dirs": "names of directories that are left out",
    "scan.witness": "names of analyzers, which run in the sandbox",
    "rules.disable": "rules",
    "rules.enable_only": "rules",
    "rules.categories": "categories",
    "rules.severity": "rules",
    "report.source_url": "a link that a reader may follow; nothing is sent there",
    "agent.budget": "an amount",
    "agent.read_budget": "an amount",
    "c2rust.allowed_crates": "crates that a person then fetches by --fetch-crates, or has vendored",
    "tool_group": "a group of tools",
    "tool_groups": "groups of tools that the user has",
    "model_group": "a group of models that the user has",
}


def settings_with_text(holder: type[BaseModel], section: str = "") -> Iterator[str]:
    """Yield the settings that may hold more than numbers, truth values and a choice of given words."""
    for name, one in holder.model_fields.items():
        if isinstance(one.annotation, type) and issubclass(one.annotation, FrozenSettings):
            yield from settings_with_text(one.annotation, f"{name}.")
        elif has_text(one.annotation):
            yield f"{section}{name}"


def has_text(kind: object) -> bool:
    if get_origin(kind) is Annotated:
        return has_text(get_args(kind)[0])
    if get_origin(kind) is Literal or kind in (int, float, bool, type(None), ...):
        return False
    return any(map(has_text, get_args(kind))) if get_args(kind) else True


def test_each_setting_with_text_has_chosen_whether_it_needs_trust() -> None:
    assert sorted([*RESTRICTED, *READ_PATHS, *NEEDS_NO_TRUST]) == sorted({*settings_with_text(Settings), *WEB_ACCESS})


WITHIN = [
    ("rules.paths", ["own", "own/a.yaml", "./own", "gone", "linked/../own"]),
    ("rules.paths", "own, own/a.yaml"),
    ("c2rust.args", ["-Iinclude", "-I", "include", "-DX=a/b", "-DY=~0u", "-std=c99", "-include", "own/a.h", "-O2"]),
    ("c2rust.args", "-Iinclude -DX -isystem include/sys --sysroot=include"),
    ("c2rust.clang_headers", "include"),
    ("c2rust.vendor", "vendor"),
]
OUTSIDE = [
    *(("rules.paths", [path]) for path in ("/etc/rules.yaml", "../rules", "own/../../x", "~/rules", "~other/rules")),
    *(
        ("rules.paths", path)
        for path in ("own,/etc/rules.yaml", ["own", "elsewhere"], ["elsewhere/a.yaml"], ["linked"])
    ),
    *(
        ("c2rust.args", [path])
        for path in ("-I/etc", "-I../x", "-isystem/etc", "--sysroot=/", "-Wp,-I/etc", "-Ielsewhere", "-O2 -Ielsewhere")
    ),
    *(
        ("c2rust.args", path)
        for path in ("-include /etc/passwd", "-I .. -DX", ["-I", "/etc"], ["-include", "../x.h"], "-DX=../x")
    ),
    *(("c2rust.args", path) for path in (["--include=/etc/x"], ["-idirafter", "own/../.."], ["-Iinclude", "@/etc/x"])),
    *((name, path) for name in ("c2rust.clang_headers", "c2rust.vendor") for path in ("/x", "..", "~/x", "elsewhere")),
]


@pytest.mark.parametrize(
    ("name", "value", "needed"), [*((*one, False) for one in WITHIN), *((*one, True) for one in OUTSIDE)], ids=str
)
def test_a_setting_that_reads_files_outside_of_the_directory_needs_trust(
    tmp_path: Path, name: str, value: object, needed: bool
) -> None:
    own, clone = {"JARVIS_DATA_DIR": str(tmp_path / "own")}, tmp_path / "clone"
    (clone / "own").mkdir(parents=True)
    (clone / "elsewhere").symlink_to("/etc")
    (clone / "linked").mkdir()
    (clone / "linked" / "a.yaml").symlink_to(tmp_path / "private.yaml")
    section, _, last = name.partition(".")
    (clone / "jarvis.yaml").write_text(json.dumps({section: {last: value}}))
    untrusted = untrusted_programs(clone, own)
    decide(clone / "jarvis.yaml", own, trusted=True)

    assert untrusted == ({"jarvis.yaml": {name: value}} if needed else {})
    assert untrusted_programs(clone, own) == {}


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ({"rules": {"paths": ["../secret.yaml"]}}, ("sec", "fast", "src")),
        ({"c2rust": {"args": ["-include", "../secret.h"]}}, ("c2rust", "scan", "-p", "src")),
    ],
    ids=["rules", "arguments"],
)
def test_a_clone_has_no_file_elsewhere_read(
    jarvis: Jarvis, settings: dict[str, dict[str, object]], command: tuple[str, ...]
) -> None:
    jarvis.tree(".", {"src/a.c": "int f(int a) { return a; }\n", "jarvis.yaml": json.dumps(settings)})
    for name in ("secret.yaml", "secret.h"):
        (jarvis.place.parent / name).write_text("the secret of a user\n")
    ended = jarvis(*command, "-q")

    (section, one), *_ = settings.items()
    assert ended.code == 0 and "secret" not in ended.out + ended.err, ended
    assert SAYS.format(file="jarvis.yaml", have=f"{section}.{next(iter(one))} has") in ended.err


MODELS_OF_A_CLONE = [
    {},
    {"api_key_env": None, "api_key_file": "/etc/secret"},
    {"api_key_env": None},
    {"api_key_env": None, "api_key": "of the file"},
    {"base_url": None},
    {"base_url": "https://api.openai.com/v1", "api_key_env": None, "api_key_file": "~/.ssh/id_rsa"},
    {"base_url": None, "api_key_env": None, "api_key": "of the file", "extra_body": {"store": True}},
    {"base_url": "https://api.deepseek.com"},
    {"base_url": "http://localhost:8000/v1"},
    {"base_url": "http://127.0.0.1:8000/v1", "api_key_env": None},
    {"base_url": "http://127.8.9.1:8000/v1"},
    {"base_url": "http://[::1]:8000/v1"},
    {"base_url": "http://169.254.169.254/v1"},
    {"base_url": "http://10.0.0.1/v1"},
]


@pytest.mark.parametrize("change", MODELS_OF_A_CLONE, ids=json.dumps)
def test_a_clone_sends_no_code_and_no_key_to_a_model(tmp_path: Path, change: dict[str, object]) -> None:
    own = {"JARVIS_DATA_DIR": str(tmp_path / "own"), "SOME_SECRET": "s3cret"}
    group = {name: value for name, value in {**GATEWAY, **change}.items() if value is not None}
    (tmp_path / "jarvis.yaml").write_text(json.dumps({"models": {"local": group}}))
    settings = load_settings(environ=own, directory=tmp_path)
    decide(tmp_path / "jarvis.yaml", own, trusted=True)

    assert not settings.models
    assert set(load_settings(environ=own, directory=tmp_path).models) == {"local"}


@pytest.mark.parametrize("url", ["https://search.example/?q={query}", "http://127.0.0.1/?q={query}"])
def test_a_clone_sends_no_search_terms_and_no_key_to_a_server(tmp_path: Path, url: str) -> None:
    own = {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    (tmp_path / "jarvis.yaml").write_text(json.dumps({"search": {"url": url}}))
    (tmp_path / "pyproject.toml").write_text('[tool.jarvis.search]\nkey_env = "K"\n')
    search = load_settings(environ=own, directory=tmp_path).search
    with_key = load_settings(environ={**own, "JARVIS_SEARCH__KEY_ENV": "OWN"}, directory=tmp_path).search

    assert (search.url, search.key_env) == (None, None)
    assert (with_key.url, with_key.key_env) == (None, "OWN")


@pytest.mark.parametrize("setting", SERVER_ADDRESSES)
@pytest.mark.parametrize(
    "address",
    [
        "HTTP://db.example/x",
        "s3://localhost/x",
        "data",
        "~/data",
        "sqlite:////srv/x.db",
        "file:///srv/blobs",
        "HTTP://localhost/x",
        "HTTP://me:word@127.0.0.1:6379/0?sslmode=disable",
        "HTTP://127.1.2.3/x",
        "HTTP://[::1]/x",
        "HTTP://[::ffff:127.0.0.1]/x",
        "HTTP://169.254.169.254/x",
        "HTTP://10.0.0.1/x",
        "redis+socket:///run/redis.sock",
    ],
)
def test_a_clone_sends_no_code_to_a_server_of_its_own(tmp_path: Path, setting: str, address: str) -> None:
    own = {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    scheme = {"store_url": "postgresql", "broker_url": "redis"}.get(setting, "https")
    value = address.replace("HTTP", scheme)
    section, _, name = setting.rpartition(".")
    (tmp_path / "jarvis.yaml").write_text(json.dumps({section: {name: value}} if section else {name: value}))

    assert setting in untrusted_programs(tmp_path, own)["jarvis.yaml"]
    decide(tmp_path / "jarvis.yaml", own, trusted=True)
    assert untrusted_programs(tmp_path, own) == {}


def test_a_clone_lets_nobody_into_the_web_interface(tmp_path: Path) -> None:
    own = {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    (tmp_path / "jarvis.yaml").write_text("web: {auth: proxy, trusted_proxies: [127.0.0.1], hosts: [evil.example]}\n")

    assert load_settings(environ=own, directory=tmp_path).web == WebSettings()


@pytest.mark.parametrize("data", ["data", "/srv/data", "~/jarvis", "/proc/self/cwd/data", "redis://localhost/x"])
def test_a_clone_brings_no_results_along(tmp_path: Path, data: str) -> None:
    own = {"JARVIS_DATA_DIR": str(tmp_path / "own")}
    (tmp_path / "pyproject.toml").write_text(f"[tool.jarvis]\ndata_dir = {json.dumps(data)}\n")

    assert set(untrusted_programs(tmp_path, own)["pyproject.toml"]) == {"data_dir"}


def test_every_command_says_that_it_uses_no_server_of_an_untrusted_file(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})
    (jarvis.place / "jarvis.yaml").write_text(
        "broker_url: redis://evil.example\nstore_url: postgresql://evil.example/x\n"
    )
    scanned, listed = jarvis("sec", "fast", "src", "-q"), jarvis("runs", "list", "--json")
    checked, shown = jarvis("doctor"), jarvis("config", "show", "store_url")

    assert (scanned.code, len(json.loads(listed.out))) == (0, 1)
    for err in (scanned.err, listed.err, checked.err):
        assert err.startswith(SAYS.format(file="jarvis.yaml", have="store_url and broker_url have"))
        assert err.count("is not trusted") == 1
    assert "jarvis.yaml is not trusted" in shown.out


def test_a_command_says_which_key_it_does_not_send(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})
    (jarvis.place / "jarvis.yaml").write_text(json.dumps({"models": {"local": GATEWAY}}))
    refused, checked = jarvis("agent", "-T", "Act.", "-p", "src", "-q"), jarvis("doctor")
    trusted = jarvis("config", "trust").out

    assert refused.code == 2
    line = SAYS.format(file="jarvis.yaml", have="models have")
    assert refused.err == line + (
        "jarvis: no model is set: those of jarvis.yaml need trust; read the file, then: jarvis config trust\n"
    )
    assert checked.err == line
    assert trusted == (
        "jarvis.yaml is trusted, until it changes:\n  models: local: code and SOME_SECRET to https://models.example/v1\n"
    )


def test_a_file_that_config_init_wrote_may_send_its_key(jarvis: Jarvis) -> None:
    jarvis("config", "init", "--model", "m", "--base-url", "https://models.example/v1", "--key-env", "SOME_SECRET")

    assert jarvis.settings.models["default"].api_key_env == "SOME_SECRET"


def test_a_group_that_an_untrusted_file_sets_is_refused_by_name(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": "int f(char *p) { return *p; }\n"})
    (jarvis.place / "jarvis.yaml").write_text(json.dumps({"models": {"gateway": GATEWAY}}))
    refused = jarvis("agent", "-T", "Act.", "-p", "src", "-q", "-g", "gateway")

    assert refused.code == 2
    assert refused.err.endswith("those of jarvis.yaml need trust; read the file, then: jarvis config trust\n")
    assert "default (jarvis.yaml is not trusted)" in jarvis("config", "show", "models").out


def test_a_scan_says_why_its_findings_are_not_verified(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY})
    (jarvis.place / "jarvis.yaml").write_text(json.dumps({"models": {"gateway": GATEWAY}, "model_group": "gateway"}))
    ended = jarvis("sec", "agent", "src", "--json", "-q")

    assert json.loads(ended.out)["run"]["remark"].endswith("need trust; read the file, then: jarvis config trust")


@pytest.mark.parametrize(
    "setting",
    [
        "store_url: postgresql://db.example/x",
        "broker_url: redis://db.example",
        "blobs_url: blobs",
        f"models: {json.dumps({'m': GATEWAY})}",
    ],
)
def test_a_worker_does_not_start_without_what_an_untrusted_file_sets(jarvis: Jarvis, setting: str) -> None:
    (jarvis.place / "jarvis.yaml").write_text(f"{setting}\nsearch: {{key_env: K}}\n")
    ended = jarvis("worker", "start")
    name = setting.partition(":")[0]

    says = SAYS.format(file="jarvis.yaml", have=f"{name} and search.key_env have").rstrip("\n")
    remedy = f" as the user of the worker, or set JARVIS_{name.upper()}: without {name}, no worker starts\n"
    assert (ended.code, ended.err) == (2, says + remedy)


def test_what_a_variable_sets_needs_no_trust(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    (jarvis.place / "jarvis.yaml").write_text("store_url: postgresql://db.example/x\n")
    monkeypatch.setenv("JARVIS_STORE_URL", f"sqlite:///{jarvis.place}/own.db")

    assert jarvis("runs", "list").err.count("is not trusted") == 0
    assert jarvis("config", "trust").out.startswith("jarvis.yaml is trusted")


@pytest.mark.parametrize(
    "command",
    [("c2rust", "cc", "--version"), ("web", "user", "ann"), ("sandbox", "run", ".", "--", "true")],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_command_that_reads_no_settings_ignores_the_files(jarvis: Jarvis, command: tuple[str, ...]) -> None:
    (jarvis.place / "jarvis.yaml").write_text("broker_url: redis://db.example\n")
    (jarvis.place / "pyproject.toml").write_text("[tool.jarvis\n")
    ended = jarvis.spawn(*command, input="a long password\n")

    assert ended.code == 0, ended.err
    assert "trust" not in ended.err
    assert "pyproject" not in ended.err


def test_each_command_says_a_line_for_a_file(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"a.c": COPY})
    (jarvis.place / "jarvis.yaml").write_text("mcp: []\nsec: {notes: n}\nbroker_url: redis://db.example\n")
    (jarvis.place / "pyproject.toml").write_text('[tool.jarvis]\ncentral_repo = "x"\nstore_url = "y"\n')
    ended = jarvis("sec", "agent", "src", "-q", "-o", os.devnull)

    assert ended.err == (
        SAYS.format(file="jarvis.yaml", have="sec.notes and broker_url have")
        + SAYS.format(file="pyproject.toml", have="central_repo and store_url have")
    )


def test_a_library_logs_what_has_no_effect(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(jarvis.place)
    tree = jarvis.tree("src", {"a.c": COPY})
    (jarvis.place / "jarvis.yaml").write_text("store_url: postgresql://db.example/x\n")
    with caplog.at_level("WARNING", logger="jarvis"):
        found = api.direct_scan(tree)

    assert found["summary"]["total"] == 1
    assert [f"jarvis: {record.facts['says']}\n" for record in caplog.records if record.msg == "settings"] == [
        SAYS.format(file="jarvis.yaml", have="store_url has")
    ]
