"""What `jarvis sec agent` reads, by default and with `--read`: its report, its estimate, and its bad input."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step
from tests.chaos.commands import until
from tests.cli.commands import Jarvis
from tests.support.gates import GATED, Gate
from tests.support.judging import task_of
from tests.support.reading_files import PARSER, PLAIN, is_reading, items, read, reported
from tests.support.settings_files import write_settings


def set_model(jarvis: Jarvis, server: ModelServer, **more: object) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k", **more}
    write_settings(jarvis.place, {"models": {"m": group}, "model_group": "m"})


@pytest.fixture
def tree(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("JARVIS_AGENT__READ")
    files = {f"p{number}.c": PARSER.format(n=number) for number in range(3)}
    return jarvis.tree("src", {**files, "plain.c": PLAIN, "README.md": "# A parser\n", "Makefile": "all:\n"})


@pytest.mark.slow
def test_what_readers_name_is_in_every_report(jarvis: Jarvis, tree: Path) -> None:
    options = ("sec", "agent", "src", "--no-prove", "--lang", "en")
    with ModelServer(forever=read) as server:
        set_model(jarvis, server)
        ended = jarvis(*options, "-o", "r.json")
        task = next(str(body["messages"]) for body in server.requests if is_reading(body))
        forms = ("markdown", "sarif", "html", "junit", "codequality")
        others = {name: jarvis(*options, "--format", name).out for name in forms}

    report = json.loads((jarvis.place / "r.json").read_text())
    assert ended.code == 0 and "; read 4 of 4 files" in ended.err
    assert [(issue["pattern"], issue["status"]) for issue in report["issues"]] == [("discovered", "confirmed")] * 3
    assert all("may write too much" in other for other in others.values())
    assert "It read 4 of 4 files whole, 100% of the lines, in 1 conversation" in others["markdown"]
    assert "README.md: # A parser" in task and "Build files: Makefile" in task


@pytest.mark.slow
def test_a_dry_run_estimates_the_reading_and_asks_nothing(jarvis: Jarvis, tree: Path) -> None:
    options = ("sec", "agent", "src", "--no-prove", "--lang", "en", "-q")
    with ModelServer(forever=read) as server:
        set_model(jarvis, server)
        before = json.loads(jarvis(*options, "--dry-run", "--json").out)
        assert server.requests == []
        jarvis(*options, "--json")
        after, table = json.loads(jarvis(*options, "--dry-run", "--json").out), jarvis(*options, "--dry-run").out

    assert (before["read"]["jobs"], before["read"]["known"]) == (1, 0)
    assert before["read"]["prompt"] > 1_000
    assert (after["read"]["known"], after["read"]["prompt"]) == (1, 0)
    assert "reading a group of files: 1.2 questions" in table and "answers of 32% of the first question" in table
    assert before["read"]["completion"] == pytest.approx(0.32 * before["read"]["prompt"] / 1.2, rel=0.5)
    assert "named" in table


@pytest.mark.slow
def test_without_reading_the_stages_are_those_of_the_rules(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=read) as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", "--read", "none", "--no-prove", "--json", "-q")

        assert not any(map(is_reading, server.requests))
    report = json.loads(ended.out)
    assert ended.code == 0 and "reading" not in report["summary"]
    assert not {"map", "read"} & set(report["run"]["stages"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "budget"), [("--read-budget", "1tok"), ("--read-budget", "0.01usd"), ("setting", "1tok")]
)
def test_what_a_budget_does_not_pay_for_is_named(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch, option: str, budget: str
) -> None:
    (tree / "large.c").write_text("".join(PARSER.format(n=number) for number in range(10, 1_000)))
    if option == "setting":
        monkeypatch.setenv("JARVIS_AGENT__READ_BUDGET", budget)
    options = () if option == "setting" else (option, budget)
    with ModelServer(forever=lambda body: reported(body, []) if is_reading(body) else read(body)) as server:
        set_model(jarvis, server, prices={"input": 1, "output": 5})
        ended = jarvis("sec", "agent", "src", "--no-prove", "--lang", "en", "--json", *options)

    summary = json.loads(ended.out)["summary"]
    amount = {"1tok": "1 token", "0.01usd": "0.0100 dollars"}[budget]
    reason = f"not read (--read): over the budget of {amount} (--read-budget); --read all reads it"
    assert ended.code == 3 and reason in [gap["reason"] for gap in summary["not_checked"]]
    assert 0 < summary["reading"]["lines_read"] < summary["reading"]["lines"]


@pytest.mark.slow
@pytest.mark.timing
def test_an_interrupted_dry_run_leaves_no_run(jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_TICK_SECONDS", "0.05")
    gate = Gate(jarvis.place.parent / "gate", monkeypatch)
    jarvis.tree("src", {"gated.c": GATED})
    with ModelServer() as server:
        set_model(jarvis, server)
        options = ("sec", "agent", "src", "--no-prove", "--dry-run")
        process = jarvis.start(*options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: '"running"' in jarvis("runs", "list", "--json").out)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    gate.open()

    assert (process.returncode, out, b"resume" in err) == (130, b"", False)
    assert json.loads(jarvis("runs", "list", "--json").out) == []


@pytest.mark.slow
def test_a_report_that_attacks_its_reader_is_escaped(jarvis: Jarvis, tree: Path) -> None:
    hostile = "<script>alert(1)</script> [x](javascript:1) \x1b[31m"

    def attack(body: Body) -> Step:
        if not is_reading(body):
            return read(body)
        return reported(body, [{**one, "description": hostile, "suggestion": hostile} for one in items(task_of(body))])

    with ModelServer(forever=attack) as server:
        set_model(jarvis, server)
        html, markdown = (
            jarvis("sec", "agent", "src", "--lang", "en", "--format", name).out for name in ("html", "markdown")
        )

    assert "alert(1)" in html and "<script>alert(1)" not in html
    assert "alert(1)" in markdown and "<script>alert" not in markdown.replace("\\<", "")
    assert "[x](javascript:1)" not in markdown
    assert "\x1b" not in html + markdown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "means"),
    [
        (("--discover",), "--read auto"),
        (("--discover", "--discover-limit", "2"), "--read auto --read-budget 10ktok"),
        (("--discover-budget", "300ktok"), "--read auto --read-budget 300ktok"),
        (("--discover", "--read", "all"), "--read all"),
    ],
)
def test_the_options_of_the_former_search_say_what_they_mean_now(
    jarvis: Jarvis, tree: Path, options: tuple[str, ...], means: str
) -> None:
    with ModelServer(forever=read) as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", "--no-prove", "-o", "r.json", *options)
        quiet = jarvis("sec", "agent", "src", "--no-prove", "-o", "q.json", "-q", *options)

    said = f"jarvis: --discover is now {means}: whole files are read instead of single functions\n"
    assert (ended.err.startswith(said), ended.err.count("--discover"), quiet.err) == (True, 1, "")
    for name in ("r.json", "q.json"):
        reading = json.loads((jarvis.place / name).read_text())["summary"]["reading"]
        assert (reading["read"], reading["files"]) == (4, 4)
    assert "--discover" not in jarvis("sec", "agent", "-h").out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--discover", "--read", "none"), "--discover is now --read auto, and cannot be combined with --read none"),
        (("-q", "--discover-limit", "3", "--read", "all"), "--read-budget limits --read auto, and cannot be combined"),
        (("-q", "--discover-budget", "3min"), "is a time; it should be an amount in dollars (1usd) or tokens"),
        (("--read-budget", "1usd"), '--read-budget: the model group "m" has no prices'),
        (("--read-budget", "0"), "should be an amount in dollars (1usd) or tokens (200ktok)"),
        (("--read-budget", "30min"), "is a time; it should be an amount in dollars (1usd) or tokens (200ktok)"),
        (("--read-budget", "much"), "should be an amount in dollars (1usd) or tokens (200ktok)"),
        (("--read-budget", "1usd", "--read", "all"), "--read-budget limits --read auto, and cannot be combined with"),
        (("--read-budget", "1usd", "--read", "none"), "--read-budget limits --read auto, and cannot be combined with"),
        (("--read", "some"), '--read: "some" is not one of auto, all, none'),
    ],
)
def test_bad_input_is_one_line(jarvis: Jarvis, tree: Path, options: tuple[str, ...], says: str) -> None:
    with ModelServer() as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", *options)

    assert ended.code == 2
    assert says in ended.line
