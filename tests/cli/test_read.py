"""`jarvis sec agent --read`: its report, its estimate, and its bad input."""

import json
from pathlib import Path

import pytest

from tests.agents.server import ModelServer
from tests.cli.commands import Jarvis
from tests.cli.test_discover import set_model
from tests.reading_files import is_reading, read
from tests.steps.test_discover import PARSER, PLAIN


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    files = {f"p{number}.c": PARSER.format(n=number) for number in range(3)}
    return jarvis.tree("src", {**files, "plain.c": PLAIN, "README.md": "# A parser\n", "Makefile": "all:\n"})


@pytest.mark.slow
def test_what_readers_name_is_in_every_report(jarvis: Jarvis, tree: Path) -> None:
    options = ("sec", "agent", "src", "--read", "auto", "--no-prove", "--lang", "en")
    with ModelServer(forever=read) as server:
        set_model(jarvis, server)
        ended = jarvis(*options, "-o", "r.json")
        task = next(str(body["messages"]) for body in server.requests if is_reading(body))
        others = {name: jarvis(*options, "--format", name).out for name in ("markdown", "sarif", "html", "junit")}

    report = json.loads((jarvis.place / "r.json").read_text())
    assert ended.code == 0 and "; read 4 of 4 files" in ended.err
    assert [(issue["pattern"], issue["status"]) for issue in report["issues"]] == [("discovered", "confirmed")] * 3
    assert all("may write too much" in other for other in others.values())
    assert "It read 4 of 4 files whole, 100% of the lines, in 1 conversation" in others["markdown"]
    assert "README.md: # A parser" in task and "Build files: Makefile" in task


@pytest.mark.slow
def test_a_dry_run_estimates_the_reading_and_asks_nothing(jarvis: Jarvis, tree: Path) -> None:
    options = ("sec", "agent", "src", "--read", "all", "--no-prove", "--lang", "en", "-q")
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


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--read", "auto", "--discover"), "--read auto reads whole files, --discover asks about single functions"),
        (("--read", "some"), '--read: "some" is not one of auto, all, none'),
    ],
)
def test_bad_input_is_one_line(jarvis: Jarvis, tree: Path, options: tuple[str, ...], says: str) -> None:
    with ModelServer() as server:
        set_model(jarvis, server)
        ended = jarvis("sec", "agent", "src", *options)

    assert ended.code == 2
    assert says in ended.line
