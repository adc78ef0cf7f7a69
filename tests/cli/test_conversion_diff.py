"""`jarvis runs diff` of two conversions."""

import json
from pathlib import Path

import pytest

from jarvis_workers.c2rust.conversion import Conversion
from jarvis_workers.c2rust.crate_metrics import CrateMetrics
from jarvis_workers.c2rust.stages.pipelines import FAST
from tests.cli.commands import COPY, Jarvis
from tests.cli.stored_conversions import function, store_conversion

BEFORE = Conversion(
    (
        function("up", 1, state="mechanical", proof="compared"),
        function("down", 3, state="translated", proof="compared"),
        function("same", 5, state="mechanical", proof="reached"),
        function("old", 7),
    ),
    metrics=CrateMetrics(unsafe_lines=1200),
)
AFTER = Conversion(
    (
        function("up", 2, state="translated", proof="compared"),
        function("down", 4, cause="different", proof="built", reason="suite: \x1b[2J"),
        function("same", 6, state="mechanical", proof="reached"),
        function("\u202enew", 9),
    ),
    metrics=CrateMetrics(unsafe_lines=800),
)


@pytest.fixture
def runs(jarvis: Jarvis) -> tuple[str, str]:
    tree = jarvis.tree("lib", {"lib.c": COPY})
    return store_conversion(jarvis, tree, BEFORE, kind=FAST), store_conversion(jarvis, tree, AFTER)


def test_better_and_worse_functions_unsafe_lines_and_cost_are_shown(jarvis: Jarvis, runs: tuple[str, str]) -> None:
    text = jarvis("runs", "diff", *runs).out

    assert text.startswith(
        f"{runs[0]} (c2rust.fast, done) -> {runs[1]} (c2rust.transpile, done)\n"
        "Worse: 1; Better: 1; Neither better nor worse: 0; New functions: 1; Removed functions: 1; Unchanged: 1\n"
        "unsafe lines: 1,200 -> 800\n"
        "cost of the model: 0.0000 dollars -> 0.0000 dollars\n"
        "note: the runs are of different kinds: c2rust.fast, c2rust.transpile\n"
    )
    assert "\nWorse (1):\n  lib.c:4: down: translated, compared -> different, built (suite: \\x1b[2J)\n" in text
    assert "\nBetter (1):\n  lib.c:2: up: mechanical, compared -> translated, compared\n" in text
    assert "\nNew functions (1):\n  lib.c:9: \\u202enew: forwarded, none\n" in text
    assert "\nRemoved functions (1):\n  lib.c:7: old: " in text


def test_the_difference_is_written_as_json_and_markdown(jarvis: Jarvis, runs: tuple[str, str]) -> None:
    found = json.loads(jarvis("runs", "diff", *runs, "--json").out)
    page = jarvis("runs", "diff", *runs, "--format", "markdown").out

    assert [one["name"] for one in found["worse"]] == ["down"]
    assert found["better"][0] | {"state_before": "mechanical", "state": "translated"} == found["better"][0]
    assert (found["before"]["unsafe_lines"], found["after"]["unsafe_lines"], found["unchanged"]) == (1200, 800, 1)
    assert found["after"]["functions"] == {"different": 1, "forwarded": 1, "mechanical": 1, "translated": 1}
    assert "## Worse (1)\n\n- `down`, `lib.c:4`: translated, compared -&gt; different, built" in page


@pytest.mark.parametrize(("order", "first"), [(1, "lib.c:4 down"), (-1, "lib.c:1 up")])
def test_a_worse_function_fails_on_request(jarvis: Jarvis, runs: tuple[str, str], order: int, first: str) -> None:
    done = jarvis("runs", "diff", *runs[::order], "--fail-on", "worse")

    assert done.code == 1
    assert done.line == f"jarvis: exit 1: 1 function worse (--fail-on worse); first: {first}"


def test_units_that_were_not_read_are_exit_code_3(jarvis: Jarvis, runs: tuple[str, str]) -> None:
    unread = Conversion(AFTER.functions[:1], not_checked=(("lib.c", "'a.h' file not found"),))
    later = store_conversion(jarvis, jarvis.place / "lib", unread, kind=FAST, only=["up"])
    done = jarvis("runs", "diff", runs[0], later, "--fail-on", "worse")

    assert done.code == 3
    assert done.line == "jarvis: exit 3: the later run is done: 3 functions not checked"
    assert "Removed functions: 0; Unchanged: 0; NOT CHECKED in the later run: 3\n" in done.out
    assert "note: the runs convert different functions (--only)\n" in done.out


def test_nothing_worse_is_exit_code_0(jarvis: Jarvis, runs: tuple[str, str]) -> None:
    assert jarvis("runs", "diff", runs[0], runs[0], "--fail-on", "worse").code == 0
    assert jarvis("runs", "diff", *runs).code == 0


def test_what_cannot_be_compared_is_one_line(jarvis: Jarvis, runs: tuple[str, str]) -> None:
    scan = jarvis.submit(jarvis.tree("src", {"a.c": COPY}), paused=True)
    (jarvis.place / "old.json").write_text("{}")
    cannot = "cannot be compared: a conversion has functions, a scan findings"
    expected = {
        (runs[0], scan): f"c2rust.fast run {runs[0]} and sec.fast run {scan} {cannot}",
        ("old.json", runs[0]): f"report file old.json and c2rust.fast run {runs[0]} {cannot}",
        (*runs, "--fail-on", "high"): "--fail-on high is for findings; for two conversions use --fail-on worse",
        (
            scan,
            scan,
            "--fail-on",
            "worse",
        ): "--fail-on worse is for two conversions; for findings use high, medium or low",
        (*runs, "--format", "html"): '--format: "html" is not one of text, markdown, json',
        (*runs, "--fail-on", "wors"): '--fail-on: "wors" is not one of low, medium, high',
    }
    for words, line in expected.items():
        done = jarvis("runs", "diff", *words)
        assert done.code == 2
        assert line in done.line


def test_a_run_without_a_result_is_named(jarvis: Jarvis, runs: tuple[str, str], tmp_path: Path) -> None:
    assert jarvis("runs", "diff", runs[0], "ffff").line.startswith('jarvis: no run "ffff"')


def test_the_language_of_a_report_is_that_of_its_run(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = jarvis.tree("lib", {"lib.c": COPY})
    first, last = store_conversion(jarvis, tree, BEFORE), store_conversion(jarvis, tree, AFTER, lang="zh")
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")

    assert "2 个由模型翻译" not in jarvis("runs", "report", first).out
    assert "4 个函数中有" in jarvis("runs", "report", last).out
    assert jarvis("runs", "report", last, "--format", "markdown").out.startswith("# 从 C 到 Rust: ")
    assert "变差: 1; 变好: 1" in jarvis("runs", "diff", first, last).out
    assert "Worse: 1; Better: 1" in jarvis("runs", "diff", last, first).out
