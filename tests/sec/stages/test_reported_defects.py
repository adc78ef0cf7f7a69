"""Every defect that a model reports is verified, merged with a finding that says so, or listed with a reason."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.conversations.resources import setup_of
from jarvis_workers.agents.conversations.runtime import AgentRuntime
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.sec.judge.verification import OTHERS_MAX
from jarvis_workers.sec.stages.verify_seen import MOST
from jarvis_workers.snapshots.resources import open_blobs
from jarvis_workers.store.engine import Store
from tests.agents.loop.server import Body, ModelServer, Step
from tests.sec.stages.pipeline import Pipeline
from tests.support.judging import TEXTS, answer, place_of
from tests.support.reading_files import is_reading, item
from tests.support.reading_files import reported as report

CODE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void first(char *out, const char *name)
{
    strcpy(out, name);
}
void bounded(const unsigned char *p)
{
    char text[16];
    printf("%d.%d.%d.%d", p[0], p[1], p[2], p[3]);
    sprintf(text, "%d.%d.%d.%d", p[0], p[1], p[2], p[3]);
}
int weak(const char *text)
{
    return atoi(text);
}
char *copied(const char *text)
{
    char *copy = malloc(100);
    strcpy(copy, text);
    return copy;
}
void second(char *out, const char *name)
{
    strcat(out, name);
}
"""
LINES = CODE.splitlines()
CLAIMED = re.compile(r"description: claim \d+")
WRITE, READ, NULL = 787, 125, 476


def line_of(code: str) -> int:
    """Return the line of the program that contains a text."""
    return next(number for number, line in enumerate(LINES, 1) if code in line)


def beside(code: str, cwe: int, text: str = "a bug") -> dict[str, Any]:
    """Return a defect that a model reports beside a candidate."""
    line = line_of(code)
    return {"file": "a.c", "line": line, "quote": LINES[line - 1].strip(), "description": text, "cwe": cwe}


def named(code: str, cwe: int, text: str = "a bug") -> dict[str, Any]:
    """Return a defect that a reader names."""
    line = line_of(code)
    return item("a.c", line, LINES[line - 1].strip(), cwe=cwe, description=text)


@dataclass
class Model:
    """A model that confirms all but the lines that it `dismisses`, and sees `others` when asked about a line.

    A reader names the `defects`.
    """

    others: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    dismisses: tuple[str, ...] = ()
    defects: tuple[dict[str, Any], ...] = ()
    asked: list[str] = field(default_factory=list)
    readings: int = 0

    def __call__(self, body: Body) -> Step:
        if is_reading(body):
            self.readings += 1
            return report(body, list(self.defects))
        return answer(body, self._verdict)

    def _verdict(self, number: int, text: str) -> list[dict[str, Any]]:
        rule, file, line, code = place_of(text)
        self.asked.append(text)
        is_risk = not any(part in code for part in self.dismisses)
        texts = dict.fromkeys(TEXTS, "as it stands there") if is_risk else {"preconditions": "none: it is checked"}
        others = self.others.get(f"{rule} {code}", [])
        evidence = [{"file": file, "line": line, "quote": code}]
        return [{"gid": number, "has_risk": is_risk, **texts, "evidence": evidence, "other_findings": others}]


@dataclass
class Runs:
    """Runs over the program, with one store and one model."""

    directory: Path
    pipeline: Pipeline
    model: Model

    def do(self, **options: Any) -> dict[str, Any]:
        tree = self.directory / "src"
        tree.mkdir(exist_ok=True)
        (tree / "a.c").write_text(CODE)
        limits = AgentLimits(rounds=4)
        run = self.pipeline.do(tree, kind="sec.agent", model_group="m", agent_limits=limits, **options)
        return self.pipeline.body(run)


@pytest.fixture
def runs(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Iterator[Runs]:
    model = Model()
    with ModelServer(forever=model) as server:
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        runtime = AgentRuntime(open_stores(sqlite_url, durable=True), setup_of({"m": group}, tmp_path / "cache"))
        pipeline = Pipeline(open_stores(sqlite_url), open_blobs(str(tmp_path / "b"), tmp_path / "c"), runtime)
        with pipeline.loop:
            yield Runs(tmp_path, pipeline, model)
    runtime.close()


def reported(body: dict[str, Any], *patterns: str) -> list[tuple[int, int, str]]:
    """Return line, CWE and status of what models reported."""
    every = [*body["issues"], *body.get("dismissed", [])]
    return sorted((one["line"], one["cwe"], one["status"]) for one in every if one["pattern"] in patterns)


def on_line(body: dict[str, Any], code: str, pattern: str = "unsafe_api") -> dict[str, Any]:
    (one,) = (
        one
        for one in (*body["issues"], *body.get("dismissed", []))
        if one["line"] == line_of(code) and one["pattern"] == pattern
    )
    return dict(one)


FIRST = "unsafe_api strcpy(out, name);"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("sprintf(text", {}),
        ("sprintf(text", {"min_confidence": 0.64}),
        ("atoi(text)", {"min_confidence": 0.64}),
        ("strcat(out", {"max_findings": 1}),
        ("return copy", {}),
    ],
    ids=["bookkeeping", "weak beside it", "below --min-confidence", "beyond --max-findings", "free line"],
)
def test_a_defect_on_a_line_with_another_row_is_verified(runs: Runs, code: str, options: dict[str, Any]) -> None:
    others = [beside(code, READ)]
    runs.model.others = {FIRST: others, "flow_unchecked_null strcpy(copy, text);": others}

    body = runs.do(**options)

    assert reported(body, "seen_by_model") == [(line_of(code), READ, "confirmed")]


@pytest.mark.slow
def test_only_a_finding_that_stays_and_is_the_same_defect_takes_a_report_and_names_it(runs: Runs) -> None:
    runs.model.dismisses = ("strcat",)
    same, other, judged = (
        beside("strcpy(copy", WRITE, "too long"),
        beside("strcpy(copy", READ),
        beside("strcat(", WRITE),
    )
    runs.model.others = {FIRST: [same, other, judged]}

    body = runs.do()

    kept = on_line(body, "strcpy(copy")
    assert [text.rpartition(": ")[2] for text in kept["also_reported"]] == ["too long"]
    assert on_line(body, "strcat(")["status"] == "dismissed"
    assert reported(body, "seen_by_model") == [(21, READ, "confirmed"), (26, WRITE, "dismissed")]
    assert "also_reported" not in on_line(body, "strcpy(out")


@pytest.mark.slow
def test_reports_of_one_defect_are_one_candidate_with_all_of_their_words(runs: Runs) -> None:
    words = ("may be read behind its end", "is not terminated")
    runs.model.others = {
        FIRST: [beside("return copy", READ, words[0])],
        "unsafe_api strcat(out, name);": [beside("return copy", READ, words[1])],
    }

    body = runs.do()

    assert reported(body, "seen_by_model") == [(line_of("return copy"), READ, "confirmed")]
    (question,) = [text for text in runs.model.asked if "seen_by_model" in text]
    assert all(word in question for word in words)
    (other,) = on_line(body, "return copy", "seen_by_model")["also_reported"]
    assert other.endswith(words)


@pytest.mark.slow
def test_what_is_seen_when_such_a_defect_is_verified_is_listed_unless_it_is_known(runs: Runs) -> None:
    late, known = beside("char text[16]", NULL, "too late"), beside("strcat(", WRITE)
    runs.model.others = {FIRST: [beside("return copy", READ)], "seen_by_model return copy;": [late, known]}

    body = runs.do()

    gaps = [(gap["file"], gap["reason"]) for gap in body["summary"]["not_checked"]]
    says = "it was seen when such a defect was verified, which is not followed up"
    assert gaps == [("a.c", f"not asked about line {line_of('char text[16]')}: too late ({says})")]


@pytest.mark.slow
def test_reports_beyond_the_most_of_a_run_are_undecided_and_listed(runs: Runs) -> None:
    cwes = range(1_000, 1_000 + OTHERS_MAX)
    runs.model.others = {
        FIRST: [beside("return copy", cwe, f"bug {cwe}") for cwe in cwes],
        "unsafe_api strcat(out, name);": [beside("char text", cwe) for cwe in cwes],
        "unsafe_api strcpy(copy, text);": [beside("char *copied", cwe) for cwe in range(1_000, 1_003)],
    }

    body = runs.do()

    statuses = [status for _, _, status in reported(body, "seen_by_model")]
    assert (len(statuses), statuses.count("confirmed")) == (2 * OTHERS_MAX + 3, MOST)
    unasked = [one for one in body["issues"] if one["pattern"] == "seen_by_model" and one["status"] == "undecided"]
    assert {one["reason"] for one in unasked} == {
        f"not asked about: a run verifies at most {MOST} of the defects that models see beside their candidates"
    }
    assert len({one["id"] for one in body["issues"]}) == len(body["issues"])


@pytest.mark.slow
def test_what_a_reader_finds_is_verified_whatever_the_run_selects_among_rules(runs: Runs) -> None:
    runs.model.defects = (named("strcpy(copy", READ), named("sprintf(text", READ))

    bodies = [runs.do(read="all", **options) for options in ({"max_findings": 1}, {"min_confidence": 0.64})]

    found_there = [(line_of("sprintf(text"), READ, "confirmed"), (line_of("strcpy(copy"), READ, "confirmed")]
    assert [reported(body, "discovered") for body in bodies] == [found_there, found_there]
    asked = [one for one in bodies[0]["issues"] if one["status"] == "confirmed" and one["pattern"] != "discovered"]
    assert len(asked) == 1
    unasked = [one for one in bodies[0]["issues"] if one["status"] == "heuristic"]
    assert unasked and all("not asked about" in one["reason"] for one in unasked)
    assert runs.model.readings == 1


@pytest.mark.slow
def test_a_discovered_defect_that_a_rule_reports_too_is_that_finding_and_part_of_its_question(runs: Runs) -> None:
    runs.model.defects = (named("strcat(", WRITE, "name has any length"),)

    body = runs.do(read="all", max_findings=1)

    assert reported(body, "discovered") == []
    finding = on_line(body, "strcat(")
    assert (finding["status"], finding["also_reported"]) == (
        "confirmed",
        ["name has any length (reach: file, harm: high, likely)"],
    )
    assert any(
        "a model also reports it, a risk if this holds: name has any length" in text for text in runs.model.asked
    )


@pytest.mark.slow
def test_each_discovered_defect_of_a_line_is_asked_about_by_its_own_description(runs: Runs) -> None:
    runs.model.defects = tuple(named("strcpy(copy", cwe, f"claim {cwe}") for cwe in (READ, 134))

    body = runs.do(read="all")

    assert reported(body, "discovered") == [(21, READ, "confirmed"), (21, 134, "confirmed")]
    questions = [text for text in runs.model.asked if "rule: discovered" in text]
    assert sorted(CLAIMED.findall("\n".join(questions))) == [f"description: claim {cwe}" for cwe in (READ, 134)]
