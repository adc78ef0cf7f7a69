"""`jarvis sec agent --discover`: its report, its options, and its bad input."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.agents.server import Body, ModelServer, Step
from tests.chaos.commands import until
from tests.cli.commands import Jarvis
from tests.discovering import defect, found, function_of, search
from tests.gates import GATED, Gate
from tests.settings_files import write_settings
from tests.steps.test_discover import PARSER, PLAIN


def set_model(jarvis: Jarvis, server: ModelServer) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}, "model_group": "m"})


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    files = {f"p{number}.c": PARSER.format(n=number) for number in range(3)}
    return jarvis.tree("src", {**files, "plain.c": PLAIN})


@pytest.mark.slow
def test_a_discovered_defect_is_in_every_report(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=search) as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", "--discover", "--discover-limit", 2, "--lang", "en", "-o", "r.json")
        others = {
            name: jarvis(
                "sec", "agent", "src", "--discover", "--discover-limit", 2, "--lang", "en", "--format", name
            ).out
            for name in ("markdown", "sarif", "html", "junit", "codequality")
        }

    report = json.loads((jarvis.place / "r.json").read_text())
    assert ended.code == 0
    assert "discovery: searched 2 of 4 functions, 6 lines of code in none" in ended.err
    assert [issue["pattern"] for issue in report["issues"]] == ["discovered"] * 2
    assert {issue["status"] for issue in report["issues"]} == {"confirmed"}
    assert all("may write too much" in other for other in others.values())
    assert "It searched 2 of 4 functions for defects without a rule (2 were chosen)." in others["markdown"]
    assert "It did not search the 6 lines of code outside of functions." in others["markdown"]


@pytest.mark.slow
def test_a_dry_run_estimates_the_search_and_asks_nothing(jarvis: Jarvis, tree: Path) -> None:
    options = ("sec", "agent", "src", "--discover", "--discover-limit", 2, "--no-prove", "--lang", "en", "-q")
    with ModelServer(forever=search) as server:
        set_model(jarvis, server)
        before = jarvis(*options, "--dry-run", "--json")
        assert server.requests == []
        ended = jarvis(*options, "--json")
        after, table = jarvis(*options, "--dry-run", "--json"), jarvis(*options, "--dry-run").out
        runs = json.loads(jarvis("runs", "list", "--json").out)

    told, run, again = (json.loads(one.out) for one in (before, ended, after))
    stages = {name: run["run"]["stages"][name]["jobs"] for name in ("discover", "verify")}
    assert (before.code, len(runs)) == (0, 1)
    assert (told["discover"]["jobs"], told["discover"]["known"]) == (stages["discover"], 0)
    assert told["verify"]["jobs"] <= stages["verify"] <= told["verify"]["jobs"] + told["bounds"]["discovered"]["jobs"]
    assert (again["discover"]["known"], again["discover"]["prompt"]) == (2, 0)
    assert again["bounds"]["discovered"]["jobs"] == 10
    assert "discovered: five defects in each function that --discover searches" in table


@pytest.mark.slow
@pytest.mark.timing
def test_an_interrupted_dry_run_leaves_no_run(jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_TICK_SECONDS", "0.05")
    gate = Gate(jarvis.place.parent / "gate", monkeypatch)
    jarvis.tree("src", {"gated.c": GATED})
    with ModelServer() as server:
        set_model(jarvis, server)
        options = ("sec", "agent", "src", "--discover", "--no-prove", "--dry-run")
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
        if name := function_of(body):
            quote = f"memcpy(room_{name[-1]}(s), bytes, n);"
            return found(body, [defect(3, quote, description=hostile, suggestion=hostile)])
        return search(body)

    with ModelServer(forever=attack) as server:
        set_model(jarvis, server)
        html, markdown = (
            jarvis("sec", "agent", "src", "--discover", "--lang", "en", "--format", name).out
            for name in ("html", "markdown")
        )

    assert "alert(1)" in html and "<script>alert(1)" not in html
    assert "alert(1)" in markdown and "<script>alert" not in markdown.replace("\\<", "")
    assert "[x](javascript:1)" not in markdown
    assert "\x1b" not in html + markdown


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--discover-limit", "3"), "--discover-limit has no effect without --discover"),
        (("--discover-budget", "1usd"), "--discover-budget has no effect without --discover"),
        (("--discover", "--discover-budget", "much"), '--discover-budget: "much" should be an amount and a unit'),
        (("--discover", "--discover-budget", "3min"), '--discover-budget: "3min" is a time'),
        (("--discover", "--discover-budget", "1usd"), '--discover-budget: the model group "m" has no prices'),
    ],
)
def test_bad_input_is_one_line(jarvis: Jarvis, tree: Path, options: tuple[str, ...], says: str) -> None:
    with ModelServer() as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", *options)

    assert ended.code == 2
    assert says in ended.line
