"""`jarvis sec agent`: what agents make of what a scan has found, in a report, and what goes wrong."""

import json
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jarvis_cli.kit.report_target import Delivery
from jarvis_workers.sec.commands.scan_request import ScanRequest
from jarvis_workers.settings import Settings
from tests.agents.loop.server import FAULTS, Body, ModelServer, Step, says
from tests.chaos.commands import until
from tests.cli.commands import Jarvis
from tests.support.judging import answer, judge, place_of
from tests.support.settings_files import write_settings

CALL = """\
#include <stdlib.h>
#include <string.h>
void copy_{n}(char *out)
{{
    strcpy(out, optarg);
}}
int number_{n}(const char *text)
{{
    return atoi(text);
}}
"""
C_RULES, RUST_RULES = (
    sorted((Path(__file__).parents[1] / "data" / "rules" / name).iterdir()) for name in ("c", "rust")
)
# Their C++ in files of C is not analyzed.
C_RULES = [file for file in C_RULES if "::" not in file.read_text()]
STATUSES = {"confirmed", "dismissed", "review", "undecided"}


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    return jarvis.tree("src", {f"f{n}.c": CALL.format(n=n) for n in range(8)})


def set_models(jarvis: Jarvis, **servers: ModelServer) -> None:
    groups = {
        name: {"model": name, "base_url": server.url, "profile": "openai", "api_key": "k"}
        for name, server in servers.items()
    }
    write_settings(jarvis.place, {"models": groups, "model_group": next(iter(groups))})


def confirm(body: Body) -> Step:
    return judge(body, always="confirmed")


def report(jarvis: Jarvis, *more: object) -> tuple[int, dict[str, Any], str]:
    ended = jarvis("sec", "agent", "-p", "src", "--format", "json", "--lang", "en", *more)
    return ended.code, json.loads(ended.out), ended.err


def judged(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [*found["issues"], *found.get("dismissed", [])]


def by_gid(found: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(judged(found), key=lambda issue: int(issue["gid"]))


def gids(found: dict[str, Any]) -> list[int]:
    return [issue["gid"] for issue in by_gid(found)]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.slow
def test_every_candidate_ends_with_a_status_and_what_was_found_out(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        code, found, err = report(jarvis)

    issues = judged(found)
    statuses = Counter(issue["status"] for issue in issues)
    summary = found["summary"]
    assert set(statuses) == STATUSES
    assert code == 3
    assert sorted(issue["gid"] for issue in issues) == list(range(1, len(issues) + 1))
    assert summary["by_status"] == {name: statuses[name] for name in ("confirmed", "review", "undecided")}
    assert summary["dismissed"] == statuses["dismissed"] == len(found["dismissed"])
    assert f"{statuses['undecided']} UNDECIDED" in err
    confirmed = next(issue for issue in issues if issue["status"] == "confirmed")
    assert confirmed["trigger_path"].startswith(confirmed["file"])
    assert confirmed["quotes"] == [
        {"file": confirmed["file"], "line": confirmed["line"], "quote": confirmed["evidence"]}
    ]
    assert confirmed["verification"]
    assert all(issue["reason"] for issue in issues if issue["status"] in ("review", "undecided"))
    assert found["run"]["sandbox"][0] in "ABC"
    assert found["run"]["model"]["calls"] == len(server.requests)


@pytest.mark.slow
def test_a_second_run_over_the_same_code_asks_nothing_and_finds_the_same(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        _, first, _ = report(jarvis)
        asked = len(server.requests)
        _, second, _ = report(jarvis)

        assert len(server.requests) == asked
    assert {**first, "run": None} == {**second, "run": None}


@pytest.mark.slow
def test_what_a_model_has_left_undecided_in_a_bad_minute_it_is_asked_again_in_the_next_run(
    jarvis: Jarvis, tree: Path
) -> None:
    with ModelServer(forever=says("I am sorry.")) as server:
        set_models(jarvis, m=server)
        _, first, _ = report(jarvis)
    with ModelServer(forever=confirm) as server:
        set_models(jarvis, m=server)
        _, second, _ = report(jarvis)
        asked = len(server.requests)
        _, third, _ = report(jarvis)

        assert len(server.requests) == asked
    assert {issue["status"] for issue in judged(first)} == {"undecided"}
    assert {issue["status"] for issue in judged(second)} == {"confirmed"}
    assert {**second, "run": None} == {**third, "run": None}


@pytest.mark.slow
def test_agents_write_in_the_language_of_the_locale_unless_another_is_asked_for(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch
) -> None:
    jarvis.tree("src", {"a.c": CALL.format(n=1)})
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        chinese = json.loads(jarvis("sec", "agent", "-p", "src", "--format", "json").out)
        told = {"中文" in str(request) for request in server.requests}
        server.requests.clear()
        _, english, _ = report(jarvis)

        assert told == {True}
        assert {"中文" in str(request) for request in server.requests} == {False}
    assert (chinese["run"]["lang"], english["run"]["lang"]) == ("zh", "en")
    assert gids(chinese) == gids(english)


def test_without_a_model_the_rules_alone_speak_and_it_says_so(jarvis: Jarvis, tree: Path) -> None:
    code, found, err = report(jarvis)

    assert code == 0
    assert {issue["status"] for issue in found["issues"]} == {"heuristic"}
    assert "no model is set" in err
    assert "no model is set" in found["run"]["remark"]


@pytest.mark.slow
def test_a_model_that_refuses_the_key_leaves_all_undecided_with_the_reason(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=FAULTS["401"]) as server:
        set_models(jarvis, m=server)
        code, found, _ = report(jarvis, "--fail-on", "low")

    assert code == 3
    assert {issue["status"] for issue in judged(found)} == {"undecided"}
    assert all("401" in issue["reason"] or "refused" in issue["reason"] for issue in found["issues"])
    assert found["summary"]["at_risk"] == {}


@pytest.mark.slow
def test_quiet_says_how_many_findings_are_undecided_and_why_the_first_is(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=FAULTS["401"]) as server:
        set_models(jarvis, m=server)
        ended = jarvis("sec", "agent", "-p", "src", "-q", "-o", "report.json")

    issues = json.loads(Path("report.json").read_text())["issues"]
    assert ended.code == 3
    assert (
        f"exit 3: UNDECIDED: {len(issues)} findings; first: src/{issues[0]['file']}:{issues[0]['line']} " in ended.line
    )
    assert issues[0]["reason"][:40] in ended.line


@pytest.mark.slow
def test_only_what_is_confirmed_or_to_review_fails_a_build(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        code, found, _ = report(jarvis, "--fail-on", "high")

    risks = [issue for issue in judged(found) if issue["status"] in ("confirmed", "review")]
    assert any(issue["severity"] == "high" for issue in risks)
    assert code == 1


@pytest.mark.slow
def test_the_worst_alone_are_judged_when_there_is_a_most(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        _, found, _ = report(jarvis, "--max-findings", 5)
    monkeypatch.setattr("jarvis_workers.sec.run_reports.finding_conversation.RUNS_SEARCHED", 1)
    assert jarvis("sec", "fast", "-p", "src", "-q").code == 0  # a run without conversations

    unasked = [issue for issue in found["issues"] if "--max-findings" in (issue["reason"] or "")]
    asked = [issue for issue in judged(found) if issue not in unasked]
    assert len(asked) == 5
    assert {issue["status"] for issue in unasked} == {"heuristic"}
    shown = jarvis("runs", "transcript", asked[0]["id"], "--full").out
    assert f"{asked[0]['file']}#" in shown and "── question" in shown
    assert f"no conversation about finding {unasked[0]['id']}" in jarvis("runs", "transcript", unasked[0]["id"]).line
    assert found["summary"]["by_status"]["heuristic"] == len(unasked)
    assert min(issue["score"] for issue in asked) >= max(issue["score"] for issue in unasked)


@pytest.mark.slow
def test_other_votes_are_those_of_the_second_group(jarvis: Jarvis, tree: Path) -> None:
    def dismisses(body: Body) -> Step:
        return judge(body, always="dismissed")

    with ModelServer(forever=judge) as one, ModelServer(forever=dismisses) as other:
        set_models(jarvis, m=one, second=other)
        _, found, _ = report(jarvis, "--votes", 2, "--second-group", "second")

    high = [issue for issue in judged(found) if issue["severity"] == "high"]
    assert {issue["status"] for issue in high} <= {"review", "dismissed", "undecided"}
    assert any("the 2 votes differ: confirmed, dismissed" in (issue["reason"] or "") for issue in high)
    assert 0 < len(other.requests) <= len(one.requests)
    assert all(body["model"] == "second" for body in other.requests)


@pytest.mark.slow
def test_what_the_first_model_leaves_open_is_escalated_and_counted(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=judge) as one:
        set_models(jarvis, m=one)
        _, alone, _ = report(jarvis)
        asked = len(one.requests)
        with ModelServer(forever=confirm) as strong:
            set_models(jarvis, m=one, strong=strong)
            code, found, err = report(jarvis, "--escalate", "strong")
            _, again, _ = report(jarvis, "--escalate", "strong")

    unclear = {issue["gid"] for issue in judged(alone) if issue["status"] == "undecided"}
    before = {issue["gid"]: issue["status"] for issue in judged(alone)}
    after = {issue["gid"]: issue["status"] for issue in judged(found)}
    assert unclear
    assert after == {gid: "confirmed" if gid in unclear else status for gid, status in before.items()}
    assert found["summary"]["escalation"] == {"escalated": len(unclear), "verified": len(before)}
    assert f"; escalated {len(unclear)} of {len(before)}" in err
    assert "escalation" not in alone["summary"]
    assert len(one.requests) == asked
    assert 0 < len(strong.requests) <= len(unclear)
    assert {**found, "run": None} == {**again, "run": None}
    assert code == 0
    page = jarvis("runs", "report", "last", "--format", "markdown").out
    assert f"A stronger model was asked about {len(unclear)} of {len(before)} candidates." in page


@pytest.mark.sample(1)
@pytest.mark.parametrize("always", ["confirmed", "dismissed"])
@pytest.mark.slow
def test_a_known_bug_among_the_candidates_tells_whether_verdicts_are_to_be_trusted(
    jarvis: Jarvis, tree: Path, always: str
) -> None:
    with ModelServer(forever=lambda body: judge(body, always)) as server:
        set_models(jarvis, m=server)
        code, found, err = report(jarvis, "--canary", "--max-findings", 2)
        told = rows(tree / ".jarvis" / "sec" / "progress.jsonl")
        _, plain, _ = report(jarvis, "--max-findings", 2)

    assert code == (0 if always == "confirmed" else 3)
    assert found["summary"].pop("canary")["status"] == always
    assert ("do not trust" in err) == (always != "confirmed")
    if always == "confirmed":
        assert {**found, "run": None} == {**plain, "run": None}
    else:
        assert plain["summary"]["dismissed"] == 2
        assert found["summary"]["dismissed"] == 0
        reviewed = [issue["reason"] for issue in found["issues"] if issue["status"] == "review"]
        assert len(reviewed) == 2
        about = [row for row in told if row["event"] == "task_status" and row.get("gids") not in (None, [0])]
        assert [row["verdict"] for row in about] == ["review"] * 2
        assert all("the model did not confirm a known bug" in reason for reason in reviewed)


@pytest.mark.slow
@pytest.mark.timing
def test_its_files_grow_while_it_is_on_and_are_in_order_in_the_end(jarvis: Jarvis, tree: Path) -> None:
    own = tree / ".jarvis" / "sec"
    own.mkdir(parents=True)
    elsewhere = jarvis.place / "elsewhere"
    elsewhere.write_text("mine\n")
    (own / "agent_issues.jsonl").symlink_to(elsewhere)
    go_on = threading.Event()

    def holds_the_last(body: Body) -> Step:
        step = judge(body)
        return replace(step, waits=go_on) if "f7.c" in str(body["messages"]) else step

    with ModelServer(forever=holds_the_last) as server:
        set_models(jarvis, m=server)
        command = jarvis.start("sec", "agent", "-p", "src", "-q", "-c", 1, "-o", "out.json", cwd=jarvis.place)
        growing = until(
            lambda: rows(own / "agent_issues.jsonl") if not (own / "agent_issues.jsonl").is_symlink() else None
        )
        go_on.set()
        assert command.wait(60) == 3

    found = json.loads((jarvis.place / "out.json").read_text())
    risks = [issue["gid"] for issue in found["issues"] if issue["status"] in ("confirmed", "review")]
    assert elsewhere.read_text() == "mine\n"
    assert {row["gid"] for row in growing} <= set(risks)
    assert [row["gid"] for row in rows(own / "agent_issues.jsonl")] == sorted(risks)
    assert [row["gid"] for row in rows(own / "heuristic_issues.jsonl")] == [row["gid"] for row in by_gid(found)]
    assert sorted(gid for row in rows(own / "cluster_report.jsonl") for gid in row["gids"]) == gids(found)
    events = Counter((row["event"], row["status"]) for row in rows(own / "progress.jsonl"))
    assert events["pre_scan", "done"] == events["cluster_report_written", "done"] == 1
    assert events["batch_status", "running"] == events["batch_status", "done"] > 0
    assert events["task_status", "done"] >= len(gids(found))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["-g", "nobody"], "nobody"),
        (["--second-group", "nobody"], "nobody"),
        (["--escalate", "nobody"], "nobody"),
        (["-c", "0"], "--cluster-limit"),
        (["--votes", "0"], "--votes"),
        (["--lang", "fr"], "--lang"),
        (["--detach"], "--detach"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(jarvis: Jarvis, tree: Path, more: list[str], says: str) -> None:
    with ModelServer() as server:
        set_models(jarvis, m=server)
        ended = jarvis("sec", "agent", "-p", "src", *more)

    assert ended.code == 2
    assert says in ended.err


def foretold(jarvis: Jarvis, path: str) -> dict[str, Any]:
    ended = jarvis("sec", "agent", "-p", path, "--dry-run", "--json", "-q", "--lang", "en")
    assert (ended.code, ended.err) == (0, "")
    told: dict[str, Any] = json.loads(ended.out)
    return told


@pytest.mark.slow
def test_a_dry_run_asks_nobody_and_foresees_a_second_run(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=confirm) as server:
        set_models(jarvis, m=server)
        told = foretold(jarvis, "src")
        assert server.requests == []
        _, found, _ = report(jarvis)
        again = foretold(jarvis, "src")

    assert told["candidates"] == len(judged(found))
    assert (told["cluster"]["jobs"], told["verify"]["known"]) == (0, 0)
    assert again["verify"]["jobs"] == found["run"]["stages"]["verify"]["jobs"]
    assert again["total"]["known"] == again["total"]["jobs"]
    assert again["total"]["prompt"] == 0


@pytest.mark.slow
def test_on_three_trees_questions_take_within_a_quarter_of_what_was_foretold(jarvis: Jarvis) -> None:
    trees = {"earlier": C_RULES[:16] + RUST_RULES[6:], "a": C_RULES[16:22], "b": C_RULES[24:30], "c": RUST_RULES[:6]}
    for name, files in trees.items():
        jarvis.tree(name, {file.name: file.read_text() for file in files})
    shares = {}
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        for name in trees:
            told = foretold(jarvis, name)["total"]["prompt"]
            ended = jarvis("sec", "agent", "-p", name, "--format", "json", "--lang", "en", "-q")
            shares[name] = told / json.loads(ended.out)["run"]["model"]["prompt"]

    del shares["earlier"]
    assert all(0.75 <= share <= 1.25 for share in shares.values()), shares


@pytest.mark.slow
def test_a_budget_stops_the_judging_and_more_goes_on(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=lambda body: judge(body, always="confirmed")) as server:
        set_models(jarvis, m=server)
        code, found, err = report(jarvis, "--budget", "24ktok")
        paused = found["run"]
        again = jarvis("runs", "resume", "last", "--budget", "9mtok", "--format", "json")

    whole = json.loads(again.out)
    assert (code, paused["state"], paused["reason"]) == (3, "paused", "budget")
    assert "--budget AMOUNT" in err
    assert 0 < paused["budget"]["spent"] <= 24_000
    assert 0 < len(judged(found)) <= len(judged(whole)) == 16
    assert whole["run"]["state"] == "done"
    assert len(server.requests) == whole["run"]["model"]["calls"]


@pytest.mark.slow
def test_a_resumed_scan_writes_the_report_where_the_first_command_was_told_to(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"f.c": CALL.format(n=0)})
    with ModelServer(forever=confirm) as server:
        set_models(jarvis, only=server)
        options = ("-o", "report.md", "--format", "json", "--fail-on", "low", "--relative-to", ".")
        first = jarvis("sec", "agent", "-p", "src", *options, "--budget", "1tok")
        stopped = json.loads((jarvis.place / "report.md").read_text())
        again = jarvis("runs", "resume", "last", "--budget", "9mtok")

    assert (first.code, stopped["run"]["state"]) == (3, "paused")
    assert (again.code, again.out) == (1, "")
    found = json.loads((jarvis.place / "report.md").read_text())
    assert found["run"]["path_prefix"] == "src"
    assert {issue["status"] for issue in found["issues"]} == {"confirmed"}


def test_the_scan_of_a_baseline_writes_no_report() -> None:
    delivery = Delivery(None, "markdown", "high", relative_to=Path("src"), target="/report.md")
    plain = ScanRequest(Settings(), ["src"], delivery)
    request = plain.with_options(**delivery.run_options)

    assert request.scan_input.options.output == "/report.md"
    assert request.without_agents.scan_input.options == plain.scan_input.options


@pytest.mark.slow
def test_a_dry_run_leaves_no_run(jarvis: Jarvis, tree: Path) -> None:
    with ModelServer(forever=judge) as server:
        set_models(jarvis, m=server)
        assert jarvis("sec", "fast", "-p", "src/f0.c", "-q").code == 0
        before = jarvis("runs", "list", "--json").out
        foretold(jarvis, "src")

    assert jarvis("runs", "list", "--json").out == before


@pytest.mark.parametrize(
    "more",
    [("-o", "r.md"), ("--format", "json"), ("--fail-on", "low"), ("--budget", "5usd"), ("--detach",)],
    ids=lambda more: more[0],
)
def test_a_dry_run_takes_nothing_that_belongs_to_a_report(jarvis: Jarvis, tree: Path, more: tuple[str, ...]) -> None:
    where = ("--where", "cluster") if more == ("--detach",) else ()
    ended = jarvis("sec", "agent", "-p", "src", "--dry-run", *more, *where)

    assert ended.code == 2
    assert ended.line.startswith(f"jarvis: {more[0]} cannot be combined with --dry-run")


@pytest.mark.parametrize("option", ["--second-group", "--escalate"])
def test_dollars_need_prices_of_every_group(jarvis: Jarvis, tree: Path, option: str) -> None:
    group = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "profile": "openai"}
    priced = group | {"prices": {"input": 1, "output": 2}}
    write_settings(jarvis.place, {"models": {"a": priced, "b": group}, "model_group": "a"})
    ended = jarvis("sec", "agent", "-p", "src", "--votes", "2", option, "b", "--budget", "5usd")

    assert ended.code == 2
    assert '--budget: the model group "b" has no prices' in ended.line


def test_a_defect_that_a_model_sees_beside_a_candidate_is_verified_once(jarvis: Jarvis) -> None:
    jarvis.tree("src", {"f.c": CALL.format(n=1), "g.c": CALL.format(n=2)})
    seen = {"file": "f.c", "line": 3, "quote": "void copy_1(char *out)", "description": "out may be NULL"}
    seen["cwe"] = "CWE-476"

    def sees(body: Body) -> Step:
        return answer(body, lambda number, text: [{**confirmed(number, text), "other_findings": [seen]}])

    with ModelServer(forever=sees) as server:
        set_models(jarvis, m=server)
        _, found, _ = report(jarvis)
        asked = len(server.requests)
        _, again, _ = report(jarvis)

    (late,) = [issue for issue in found["issues"] if issue["pattern"] == "seen_by_model"]
    assert (late["file"], late["line"], late["status"]) == ("f.c", 3, "confirmed")
    assert (late["description"], late["cwe"], late["category"]) == ("out may be NULL", 476, "memory_mgmt")
    assert late["gid"] == max(gids(found)) == len(gids(found)) == 5
    assert gids(again) == gids(found)
    assert len(server.requests) == asked


def confirmed(number: int, text: str) -> dict[str, Any]:
    _, file, line, code = place_of(text)
    texts = dict.fromkeys(("preconditions", "trigger_path", "consequences", "suggestions"), "as it stands there")
    return {"gid": number, "verdict": "risk", **texts, "evidence": [{"file": file, "line": line, "quote": code}]}
