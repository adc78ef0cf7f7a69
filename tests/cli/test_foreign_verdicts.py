"""Findings of other analyzers are fixed, discussed and judged like those of rules."""

import json
from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.cli.commands import Ended, Jarvis
from tests.cli.test_foreign_findings import of_tool
from tests.cli.test_sec_fix import CHECKS, Fixing
from tests.sec.stages.fixing import ANSWER, COPY, GOOD, NAME
from tests.support.judging import judge

RULE = "cpp/unbounded-write"
LINE = NAME[: NAME.index(COPY)].count("\n") + 1


@pytest.fixture
def fixing(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Fixing:
    return Fixing(jarvis, monkeypatch)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report of CodeQL on another machine: a call of strcpy."""
    place = {"artifactLocation": {"uri": "file:///ci/work/src/name.c"}, "region": {"startLine": LINE}}
    result = {
        "ruleId": RULE,
        "level": "error",
        "message": {"text": "This call to strcpy may overflow."},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": "f00:1"},
    }
    run = {"tool": {"driver": {"name": "CodeQL"}}, "results": [result]}
    file = tmp_path / "codeql.sarif"
    file.write_text(json.dumps({"version": "2.1.0", "runs": [run]}))
    return file


def fixed(fixing: Fixing) -> tuple[Ended, str]:
    """Fix the findings of the last run with a right patch; return the end, and what the model was asked."""
    with ModelServer(calls("read_code", path="src/name.c"), GOOD, ANSWER) as server:
        fixing.settings(server)
        ended = fixing.fix(*CHECKS, "--json")
        return ended, json.dumps(server.requests)


def check_patch(ended: Ended) -> None:
    document = json.loads(ended.out)
    (one,) = document["fixes"]
    gates = {gate["gate"]: gate["state"] for gate in one["gates"]}
    reasons = {gate["gate"]: gate["reason"] for gate in one["gates"]}
    assert (ended.code, one["state"], gates["build"], gates["tests"]) == (0, "fixed", "passed", "passed")
    assert gates["rule"] == "not checked"
    assert "codeql was not run again" in reasons["rule"]


@pytest.mark.slow
def test_findings_of_an_import_are_fixed_and_its_reports_have_the_patches(fixing: Fixing, report: Path) -> None:
    fixing.commit()
    assert fixing.jarvis("sec", "import", str(report), "-p", "src", "-q").code == 0
    ended, asked = fixed(fixing)

    check_patch(ended)
    assert f"codeql:{RULE}" in asked and "This call to strcpy may overflow." in asked
    scanned = json.loads(ended.out)["scanned"]
    log = json.loads(fixing.jarvis("runs", "report", scanned, "--format", "sarif").out)
    (result,) = log["runs"][1]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "src/name.c"


@pytest.mark.slow
def test_what_a_person_has_judged_false_of_an_import_is_not_fixed(fixing: Fixing, report: Path) -> None:
    fixing.jarvis("sec", "import", str(report), "-p", "src", "-q")
    assert fixing.jarvis("sec", "triage", "last", "--file", "*", "--mark", "false", "--reason", "no").code == 0
    fixing.jarvis("sec", "import", str(report), "-p", "src", "-q")
    (one,) = json.loads(fixing.jarvis("runs", "report", "last", "--json").out)["suppressed"]
    with ModelServer() as server:
        fixing.settings(server)
        every, named = fixing.fix(), fixing.fix(one["id"])
    assert (every.code, "has no findings to fix" in every.line) == (2, True)
    assert (named.code, f"finding {one['id']} is suppressed" in named.line) == (2, True)


def judged(fixing: Fixing, report: Path, always: str) -> Ended:
    """Have a model give each candidate the same verdict."""
    with ModelServer(forever=lambda body: judge(body, always)) as server:
        fixing.settings(server)
        only = ("--findings", str(report), "--rules", "atoi_family", "--no-prove", "--lang", "en")
        return fixing.jarvis("sec", "agent", "src", *only, "--format", "sarif")


@pytest.mark.slow
def test_a_finding_that_a_model_has_verified_is_fixed(fixing: Fixing, report: Path) -> None:
    fixing.commit()
    done = judged(fixing, report, "confirmed")
    assert (done.code, of_tool(done.out, "CodeQL")) == (0, [("f00:1", [])])
    check_patch(fixed(fixing)[0])


@pytest.mark.slow
def test_a_finding_that_a_model_refutes_is_suppressed_in_the_run_of_its_tool(fixing: Fixing, report: Path) -> None:
    done = judged(fixing, report, "dismissed")
    assert (done.code, of_tool(done.out, "CodeQL")) == (0, [("f00:1", ["none: the length is known"])])


@pytest.mark.slow
def test_a_finding_of_an_import_can_be_discussed(fixing: Fixing, report: Path) -> None:
    imported = fixing.jarvis("sec", "import", str(report), "-p", "src", "--json")
    (issue,) = json.loads(imported.out)["issues"]

    def answer(body: Body) -> Step:
        return says("Nobody does.") if "The question:" in str(body) else judge(body, "dismissed")

    with ModelServer(forever=answer) as server:
        fixing.settings(server)
        asked = fixing.jarvis("sec", "ask", issue["id"], "Who checks the length?")
        disputed = fixing.jarvis("sec", "dispute", issue["fingerprint"], "the length is known")
        questions = str(server.requests)
    assert (asked.code, asked.out) == (0, "Nobody does.\n")
    assert (disputed.code, disputed.out.splitlines()[0]) == (0, "dismissed")
    assert "This call to strcpy may overflow." in questions


@pytest.mark.slow
def test_a_budget_pauses_the_verification_of_findings_of_others(fixing: Fixing, report: Path) -> None:
    with ModelServer(forever=lambda body: judge(body, "confirmed")) as server:
        fixing.settings(server)
        only = ("--findings", str(report), "--rules", "atoi_family", "--no-prove")
        paused = fixing.jarvis("sec", "agent", "src", *only, "--budget", "1tok", "-q")
        resumed = fixing.jarvis("runs", "resume", "last", "--budget", "9mtok", "--json")
    assert paused.code == 3
    (issue,) = json.loads(resumed.out)["issues"]
    assert (resumed.code, issue["status"], issue["pattern"]) == (0, "confirmed", f"codeql:{RULE}")
