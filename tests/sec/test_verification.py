"""Verifying: each fault of an answer has its outcome, none of them reads as safe, and a request names no run."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.agents.loop.drivers import AgentWorld
from jarvis_workers.agents.loop.limits import AgentLimits
from jarvis_workers.agents.loop.nonces import make_marks
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.errors import ModelRefused, ModelUnavailable
from jarvis_workers.models.platforms.profiles import PROFILES, Profile
from jarvis_workers.models.platforms.protocol import Reply, estimate
from jarvis_workers.sec.assessment import TEXTS, EvidenceQuote, Verdict
from jarvis_workers.sec.judge.canary import CANARIES
from jarvis_workers.sec.judge.quotes import find_quote
from jarvis_workers.sec.judge.reading_tools import READERS, reading_toolbox
from jarvis_workers.sec.judge.slices import SELECTED, CodeIndex
from jarvis_workers.sec.judge.verdict import (
    FORM,
    Quote,
    ReportItem,
    SeenDefect,
    VerdictCollector,
)
from jarvis_workers.sec.judge.verification import OTHERS_MAX, Verification
from jarvis_workers.sec.judge.worked_examples import EXAMPLES
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from tests.agents.loop.arrange import TEXT, Scripted, call, drive, text
from tests.sec.slicing import COPY, FILES
from tests.sec.verifying import MARKS, RISK, SAFE, UNCLEAR, found, item, prepared, report, toolbox, verify

DOCS = Path(__file__).parents[2] / "docs" / "verification.md"
TWO = (found(), found(line=14, pattern="atoi_family", confidence=0.7))
INVENTED = [{"file": "src/a.c#copy_it", "line": 4, "quote": "memcpy(d, s, n);"}]
WRONG_LINE = [{"file": "src/a.c", "line": 13, "quote": "strcpy(d, s);"}]
AMBIGUOUS = [{"file": "src/a.c", "line": 99, "quote": "static int checked(const char *s)"}]
COMMENT = [{"file": "src/a.c", "line": 5, "quote": "/* the caller has checked it */"}]
DOCUMENT = [{"file": "README", "line": 1, "quote": "All of it was reviewed."}]
KEYWORD = [{"file": "src/a.c#copy_it", "line": 1, "quote": "const char"}]
WORDS = "I have looked at it for a long time. " * 8_000
HALF = "<REPORT>\n- gid: 1\n  has_risk: true\n  preconditions: 's is\n</REPORT>"
TWO_REPORTS = "<REPORT>\n- gid: 1\n  has_risk: false\n</REPORT>\n<REPORT>\n- gid: 1\n  has_risk: true\n</REPORT>"
REFUSES = "I am sorry, I cannot help with that."

# For two candidates: what the model answers, one after the other, and what becomes of both.
FAULTS: dict[str, tuple[list[Reply | Exception], str, str]] = {
    "no fault": ([report(item(1), item(2))], "confirmed", "confirmed"),
    "no tags": ([text(WORDS[:500])] * 3, "undecided", "undecided"),
    "half YAML": ([text(HALF)] * 3, "undecided", "undecided"),
    "half YAML, then a report": ([text(HALF), report(item(1), item(2))], "confirmed", "confirmed"),
    "300 KB of prose": ([text(WORDS)] * 3, "undecided", "undecided"),
    "a refusal": ([text(REFUSES)] * 3, "undecided", "undecided"),
    "a refusal by a content filter": ([text("", finish="content_filter")] * 3, "undecided", "undecided"),
    "a truncated answer": ([text(HALF, finish="length")] * 3, "undecided", "undecided"),
    "an empty answer": ([text("")] * 3, "undecided", "undecided"),
    "an empty report": ([report()] * 3, "undecided", "undecided"),
    "two reports that differ": ([text(TWO_REPORTS)] * 3, "undecided", "undecided"),
    "a missing number": ([report(item(1))] * 3, "confirmed", "undecided"),
    "a missing number, given when asked": ([report(item(1)), report(item(2, SAFE))], "confirmed", "dismissed"),
    "an unknown number": ([report(item(1), item(2), item(9))] * 3, "undecided", "undecided"),
    "zero-based numbering": ([report(item(0, SAFE), item(1, SAFE))] * 3, "undecided", "undecided"),
    "an unknown number, corrected": ([report(item(7)), report(item(1), item(2, SAFE))], "confirmed", "dismissed"),
    "one number twice, differing": ([report(item(1), item(1, SAFE), item(2))], "undecided", "confirmed"),
    "another verdict when asked again": ([report(item(1, SAFE)), report(item(1), item(2))], "undecided", "confirmed"),
    "an empty field": ([report(item(1, trigger_path=" - "), item(2))] * 3, "review", "confirmed"),
    "an empty field, filled when asked": (
        [report(item(1, consequences=None), item(2)), report(item(1))],
        "confirmed",
        "confirmed",
    ),
    "an invented quote": ([report(item(1, evidence=INVENTED), item(2))] * 2, "review", "confirmed"),
    "an invented quote in a dismissal": (
        [report(item(1, SAFE, evidence=INVENTED), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "an invented quote, corrected": (
        [report(item(1, evidence=INVENTED), item(2)), report(item(1))],
        "confirmed",
        "confirmed",
    ),
    "a wrong line number": ([report(item(1, evidence=WRONG_LINE), item(2))], "confirmed", "confirmed"),
    "an ambiguous quote": ([report(item(1, evidence=AMBIGUOUS), item(2))] * 2, "review", "confirmed"),
    "a missing file": (
        [report(item(1, evidence=[{**INVENTED[0], "file": "no.c"}]), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "a trivial quote": (
        [report(item(1, evidence=[{**INVENTED[0], "quote": "{ }"}]), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "no evidence": ([report(item(1, SAFE, evidence=[]), item(2))] * 2, "review", "confirmed"),
    "a dismissal without a reason": ([report(item(1, SAFE, preconditions=" - "), item(2))] * 3, "review", "confirmed"),
    "a dismissal with one word as its reason": (
        [report(item(1, SAFE, preconditions="list_files"), item(2))] * 3,
        "review",
        "confirmed",
    ),
    "a dismissal with N/A as its reason": (
        [report(item(1, SAFE, preconditions="N/A."), item(2))] * 3,
        "review",
        "confirmed",
    ),
    "a dismissal with a reason when asked": (
        [report(item(1), item(2, SAFE, preconditions="")), report(item(2, SAFE))],
        "confirmed",
        "dismissed",
    ),
    "a dismissal that quotes a comment": (
        [report(item(1, SAFE, evidence=COMMENT), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "a dismissal that quotes a document": (
        [report(item(1, SAFE, evidence=DOCUMENT), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "a dismissal that quotes a keyword": (
        [report(item(1, SAFE, evidence=KEYWORD), item(2))] * 2,
        "review",
        "confirmed",
    ),
    "a risk that quotes a keyword": ([report(item(1, evidence=KEYWORD), item(2))] * 2, "review", "confirmed"),
    "an unclear verdict": ([report(item(1, UNCLEAR), item(2))], "undecided", "confirmed"),
    "an unclear verdict without a reason": (
        [report(item(1, UNCLEAR, preconditions="", analysis=""), item(2))],
        "undecided",
        "confirmed",
    ),
    "a risk without evidence, unclear when asked": (
        [report(item(1, evidence=[]), item(2)), report(item(1, UNCLEAR))],
        "undecided",
        "confirmed",
    ),
    "an unknown exposure": ([report(item(1, exposure="space"), item(2))] * 3, "undecided", "undecided"),
    "a confidence of 150 %": ([report(item(1, confidence="150 %"), item(2))] * 3, "undecided", "undecided"),
    "verdict and has_risk that differ": ([report(item(1, verdict="no_risk"), item(2))] * 3, "undecided", "undecided"),
    "a wrong key": ([ModelRefused("401")], "undecided", "undecided"),
    "an unavailable model": ([ModelUnavailable("gone")], "undecided", "undecided"),
    "a model that fails midway": ([report(item(1)), ModelUnavailable("gone")], "confirmed", "undecided"),
}


def in_tags(answer: Reply | Exception) -> Reply | Exception:
    """The same report, as a model without tool calls gives it."""
    if isinstance(answer, Exception) or not answer.calls:
        return answer
    return text(f"<REPORT>\n{json.dumps(json.loads(answer.calls[0].arguments)['report'])}\n</REPORT>")


@pytest.mark.parametrize("profile", [PROFILES["deepseek"], TEXT], ids=["tool", "tags"])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_an_answer_has_its_outcome(fault: str, profile: Profile) -> None:
    answers, *outcomes = FAULTS[fault]
    platform = Scripted(*(map(in_tags, answers) if profile is TEXT else answers))

    verdicts = verify(platform, prepared(*TWO), profile=profile)

    assert [verdict.status for verdict in verdicts] == outcomes
    assert platform.replies == []
    assert all((verdict.reason is None) == (verdict.status in ("confirmed", "dismissed")) for verdict in verdicts)


def test_the_table_in_the_documentation_is_of_these_faults() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (\w+), (\w+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)

    assert [(fault.strip(), *outcomes) for fault, *outcomes in rows] == [
        (fault, *outcomes) for fault, (_, *outcomes) in FAULTS.items()
    ]


quotes = st.builds(
    Quote,
    file=st.sampled_from(["src/a.c#copy_it", "src/a.c", "src/main.c", "no.c", "../x", ""]) | st.text(max_size=5),
    line=st.integers(-3, 20),
    quote=st.sampled_from(["strcpy(d, s);", "return checked(d);", "{", "", "free(d);"]) | st.text(max_size=8),
)
items = st.builds(
    ReportItem,
    gid=st.integers(0, 4),
    verdict=st.sampled_from(["risk", "no_risk", "unclear"]),
    **{name: st.sampled_from(["", "-", "said"]) for name in TEXTS},
    evidence=st.lists(quotes, max_size=3),
)


@given(st.lists(st.lists(items, max_size=5), max_size=4), st.sampled_from([None, "time: too long"]))
def test_whatever_is_reported_each_number_has_one_verdict_and_what_is_decided_is_grounded(
    reports: list[list[ReportItem]], stopped: str | None
) -> None:
    ready = prepared(*TWO)
    answers = VerdictCollector(
        (1, 2), lambda quote, dismisses: find_quote(ready.index, ready.code, quote, dismisses=dismisses)
    )
    asked = 0
    for said in reports:
        answers.take(said)
        asked += answers.again() is not None
    verdicts = answers.verdicts(stopped)

    assert list(verdicts) == [1, 2]
    assert asked <= 2
    for number, verdict in verdicts.items():
        ours = [item for said in reports if all(1 <= item.gid <= 2 for item in said) for item in said]
        decisions = {item.verdict for item in ours if item.gid == number}
        if verdict.status in ("confirmed", "dismissed"):
            assert decisions == {"risk" if verdict.status == "confirmed" else "no_risk"}
            assert all(one.file.startswith("src/") and one.line > 0 for one in verdict.evidence)
            assert verdict.evidence
        if verdict.status == "dismissed":
            assert verdict.preconditions == "said"
        if verdict.status == "confirmed":
            assert all(getattr(verdict, name) == "said" for name in TEXTS)
        assert (verdict.status == "undecided") == (len(decisions) != 1 or decisions == {"unclear"})


@pytest.mark.parametrize("gid", [10**12, -(10**12), "9" * 5_000])
def test_numbers_beyond_all_measure_are_no_report(gid: Any) -> None:
    (verdict,) = verify(Scripted(*[report(item(gid))] * 3))

    assert (verdict.status, (verdict.reason or "")[:13]) == ("undecided", "inconclusive:")


def test_no_fault_reads_as_safe() -> None:
    faults = {fault: outcome for fault, (_, outcome, _) in FAULTS.items() if outcome == "dismissed"}

    assert faults == {}


def test_an_unclear_verdict_is_undecided_with_its_reason_and_not_asked_again() -> None:
    platform = Scripted(report(UNCLEAR))

    (verdict,) = verify(platform)

    assert (verdict.status, verdict.has_risk) == ("undecided", None)
    assert verdict.reason == "unclear: no caller of copy_it is in the project"
    assert len(platform.requests) == 1


def test_a_verdict_rates_a_risk() -> None:
    rating = {"exposure": "Remote", "severity": "high", "confidence": "85 %", "analysis": "argv[1] reaches strcpy"}

    (verdict,) = verify(Scripted(report(item(1, **rating))))

    assert (verdict.exposure, verdict.severity, verdict.confidence) == ("remote", "high", 0.85)
    assert verdict.analysis == "argv[1] reaches strcpy"


def test_what_is_no_risk_has_no_exposure_and_no_severity() -> None:
    (verdict,) = verify(Scripted(report(item(1, SAFE, exposure="file", severity="low", confidence=0.9))))

    assert (verdict.status, verdict.exposure, verdict.severity, verdict.confidence) == ("dismissed", "", "", 0.9)


def test_a_verdict_may_be_given_without_has_risk() -> None:
    risk, safe = ({name: of[name] for name in of if name != "has_risk"} for of in (RISK, SAFE))
    answers = report(item(1, risk, verdict="risk"), item(2, safe, verdict="No risk"))

    verdicts = verify(Scripted(answers), prepared(*TWO))

    assert [(verdict.status, verdict.has_risk) for verdict in verdicts] == [("confirmed", True), ("dismissed", False)]


def test_the_schema_asks_for_an_analysis_before_the_verdict() -> None:
    fields = FORM.schema["$defs"]["ReportItem"]["required"]

    assert fields == [
        "gid",
        "analysis",
        "verdict",
        "exposure",
        "severity",
        "confidence",
        *TEXTS,
        "evidence",
        "other_findings",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("profile", [PROFILES["deepseek"], PROFILES["openai"], TEXT])
def test_all_conversations_share_a_static_part_that_providers_cache(profile: Profile, language: str) -> None:
    requests = []
    for about, marks in (("Does s fit into d?", MARKS), ("Is it checked?", make_marks(b"secret", "another"))):
        platform = Scripted(ModelUnavailable("gone"))
        verify(platform, prepared(verification=about, language=language), profile=profile, marks=marks)
        requests.append(platform.requests[0])
    (one, *ours), (other, *theirs) = (request.messages for request in requests)

    assert one == other
    assert ours != theirs
    assert requests[0].tools == requests[1].tools
    assert estimate(one.content) >= 1_024


def test_the_prompt_has_an_example_for_each_category_of_rules() -> None:
    platform = Scripted(ModelUnavailable("gone"))
    verify(platform)
    system = platform.requests[0].messages[0].content

    assert {RULES_BY_PATTERN[example.pattern].category for example in EXAMPLES} == {rule.category for rule in RULES}
    assert {example.answer["verdict"] for example in EXAMPLES} == {"risk", "no_risk", "unclear"}
    for example in EXAMPLES:
        rule = RULES_BY_PATTERN[example.pattern]
        ReportItem.model_validate({"gid": 1, **example.answer})
        assert example.code in (rule.bad, rule.good)
        assert example.text("en") in system


def test_marks_and_numbers_are_a_small_part_of_the_prompt() -> None:
    body = "".join(f"    total += item[{number}] * weight_of(item, {number});\n\n" for number in range(60))
    code = f"int copy_it(char *d, const char *s)\n{{\n{body}    strcpy(d, s);\n    return 0;\n}}\n"
    platform = Scripted(ModelUnavailable("gone"))
    verify(platform, prepared(found("a.c", 123), files={"a.c": code}))
    lines = platform.requests[0].messages[1].content.split("\n")

    code_lines = [line for line in lines if re.match(rf"{MARKS.line}\d+\|", line)]
    bare = [re.sub(rf"^{MARKS.line}\d+\| ", "", line) for line in code_lines]
    assert len(code_lines) == 65
    assert "".join(bare).replace(" ", "") == "".join(code.split("\n")).replace(" ", "")
    assert sum(map(estimate, bare)) >= 0.8 * sum(map(estimate, code_lines))


def test_a_run_in_chinese_has_no_english_sentences() -> None:
    platform = Scripted(*map(in_tags, (report(item(1, evidence=INVENTED)), report(RISK))))
    verify(platform, prepared(language="zh"), profile=TEXT)
    said = [line for message in platform.requests[-1].messages for line in message.content.split("\n")]
    ours = "\n".join(line for line in said if not line.startswith(MARKS.line))

    assert not re.search(r"\b(?:the|this|with|which|candidates?)\b", ours.partition("# 工具")[0])
    assert not re.search(r"\b(?:of your|Report on|Part of|Lines that)\b", ours)


def test_a_verdict_has_the_words_of_the_model_and_lines_of_the_files() -> None:
    (verdict,) = verify(Scripted(report(RISK)))

    assert verdict == Verdict(
        71,
        "confirmed",
        True,
        preconditions="s is longer than d",
        trigger_path="src/main.c:6 -> src/a.c:8",
        consequences="a write behind d",
        suggestions="use strlcpy",
        evidence=(EvidenceQuote("src/a.c", 8, "strcpy(d, s);"),),
    )


def test_all_texts_of_a_verdict_name_lines_of_the_files() -> None:
    said, kept = "src/main.c#main:4 calls src/a.c#copy_it:4.", "src/main.c:6 calls src/a.c:8."

    (verdict,) = verify(Scripted(report(item(1, UNCLEAR, analysis=said, preconditions=said))))

    assert (verdict.analysis, verdict.preconditions) == (kept, kept)
    assert verdict.reason == f"unclear: {kept}"


@pytest.mark.parametrize(
    ("file", "line", "quote", "at"),
    [
        ("src/a.c#copy_it", 4, "strcpy(d, s);", 8),
        ("./src/a.c", 8, "strcpy(d,s);", 8),
        ("src/a.c", 4, "strcpy(d, s);", 8),
        ("src/a.c", 5, "    strcpy(d, s);\n    return checked(d);", 8),
        ("src/a.c#copy_it", "4-5", f"{MARKS.line}    4|     strcpy(d, s);", 8),
        ("src/a.c", 11, "strcpy(d, s); // it fits", 8),
        ("src/a.h#end", 3, "struct box {", 3),
        ("README", 1, "All of it was reviewed.", 1),
        ("src/a.c", 8, "strcpy(d, s)", 8),
        ("src/a.h", 4, "char room[SMALL]", 4),
        ("src/a.h", 3, "box", None),
        ("src/a.h", 3, "struct box", 3),
        ("src/a.c", 8, "strcpy(d", None),
        ("src/a.c", 5, "char *d", None),
        ("src/a.c", 5, "constchar*", None),
        ("src/a.c", 14, "return s[0] != 0;", 14),
        ("src/a.c", 13, "s[0] != 0;", None),
        ("src/a.c", 12, "strcpy(d, s);", 8),
        ("src/a.c#copy", 4, "strcpy(d, s);", 8),
        ("../src/a.c", 8, "strcpy(d, s);", None),
        ("src/a.c#copy_it", -4, "strcpy(d, s);", 8),
        ("src/a.c", 8, "strcpy(d, s); return 0;", None),
        ("src/a.c", 8, "", None),
        ("src/a.c", 8, "strcpy(d, s);" + " " * 9_000, None),
    ],
)
def test_a_quote_is_looked_for_where_it_is_said_to_stand(file: str, line: Any, quote: str, at: int | None) -> None:
    evidence = [{"file": file, "line": line, "quote": quote}]
    replies = [report(item(1, evidence=evidence))] * (1 if at else 2)

    (verdict,) = verify(Scripted(*replies))

    assert verdict.status == ("confirmed" if at else "review")
    assert [one.line for one in verdict.evidence] == ([at] if at else [])


@pytest.mark.parametrize(
    ("file", "line", "quote", "status"),
    [
        ("src/a.c#copy_it", 4, "strcpy(d, s); // it fits", "dismissed"),
        ("src/a.c", 8, "    strcpy(d, s);\n    return checked(d);", "dismissed"),
        ("src/a.h", 4, "char room[SMALL];", "dismissed"),
        ("src/a.c", 8, "// it fits", "review"),
        ("src/a.c", 5, "the caller has checked it", "review"),
        ("src/a.c", 19, "never = longer_than(room);", "review"),
        ("NOTES", 1, "room = bounded(length);", "review"),
    ],
)
def test_what_dismisses_is_code_and_no_word_about_it(file: str, line: int, quote: str, status: str) -> None:
    dead = "\n#if 0\nnever = longer_than(room);\n#endif\n"
    files = {**FILES, "src/a.c": COPY + dead, "NOTES": "room = bounded(length);\n"}
    said = item(1, SAFE, evidence=[{"file": file, "line": line, "quote": quote}])

    (verdict,) = verify(Scripted(*[report(said)] * (1 if status == "dismissed" else 2)), prepared(files=files))

    assert verdict.status == status
    assert all("//" not in one.quote for one in verdict.evidence)


@pytest.mark.parametrize(("length", "status"), [(200, "dismissed"), (700, "review")])
@pytest.mark.parametrize("before", ["", "strcpy(d, s);\n\n    "])
def test_the_beginning_of_a_long_line_dismisses_nothing(before: str, length: int, status: str) -> None:
    line = f"return checked(d) == 0 || d[{'0 + ' * (length // 4)}0];"
    files = {**FILES, "src/a.c": COPY.replace("// it fits\n", "\n\n").replace("return checked(d);", line)}
    quote = {"file": "src/a.c", "line": 10, "quote": f"{before}return checked(d) == 0 ||"}

    (verdict,) = verify(Scripted(report(item(1, SAFE, evidence=[quote]))), prepared(files=files))

    assert (verdict.status, len(verdict.evidence)) == (status, 1)


def test_who_dismisses_without_a_reason_is_asked_for_it() -> None:
    platform = Scripted(report(item(1, SAFE, preconditions="")), report(SAFE))

    (verdict,) = verify(platform)

    assert (verdict.status, verdict.preconditions) == ("dismissed", SAFE["preconditions"])
    assert "without a reason in preconditions: 1." in platform.requests[1].messages[-1].content
    assert "state in preconditions why" in platform.requests[0].messages[0].content.replace("\n  ", " ")


def test_what_is_wrong_is_sent_back_with_the_reason() -> None:
    platform = Scripted(report(item(1, evidence=INVENTED, consequences="")), report(item(1), item(2)))
    verify(platform, prepared(*TWO))

    told = platform.requests[1].messages[-1].content
    assert "There is no verdict for: 2." in told
    assert "Candidate 1 is reported as a risk, but these fields are empty: consequences." in told
    assert "Candidate 1, evidence 1: not in the code of that file. At the stated line are:\n" in told
    assert f"\n{MARKS.line}src/a.c#copy_it:4: strcpy(d, s);\n" in told
    assert "Report on these candidates alone: 1, 2." in told


def test_who_is_asked_again_still_sees_what_it_handed_in() -> None:
    platform = Scripted(report(item(1, evidence=INVENTED)), report(RISK))
    verify(platform)

    assert '"memcpy(d, s, n);"' in platform.requests[1].messages[-2].content


def test_commands_are_kept_to_be_run_again() -> None:
    ran = call("execute_script", '{"interpreter": "sh", "script_content": "cat src/main.c"}')

    (verdict,) = verify(Scripted(ran, report(RISK)))

    assert verdict.commands == (("sh", "cat src/main.c"),)


SEARCH = call("search_code", '{"pattern": "copy_it"}')
RAW = (
    call("execute_script", '{"script_content": "cat src/a.c"}'),
    call("read_code", '{"path": "src/a.c", "comments": true}'),
    call("read_code", '{"path": "README"}'),
)


@pytest.mark.parametrize("look", RAW)
@pytest.mark.parametrize(
    ("again", "status"),
    [
        ([report(SAFE)], "dismissed"),
        ([report(RISK)], "review"),
        ([ModelUnavailable("gone")], "review"),
        ([RAW[2], report(SAFE)], "review"),
        ([SEARCH, report(SAFE)], "dismissed"),
    ],
)
def test_who_dismisses_with_comments_in_sight_is_asked_again_without(
    look: Reply, again: list[Reply | Exception], status: str
) -> None:
    platform = Scripted(look, report(SAFE), *again)

    (verdict,) = verify(platform)

    assert (verdict.status, platform.replies) == (status, [])
    assert [tool.name for tool in platform.requests[2].tools] == [*READERS, "submit_report"]
    assert "it fits" not in str(platform.requests[2].messages)


def test_who_dismisses_without_a_look_at_comments_is_believed() -> None:
    looks = call("read_code", '{"path": "src/a.c#copy_it"}'), call("read_code", '{"path": "src/main.c"}')

    (verdict,) = verify(platform := Scripted(*looks, SEARCH, call("list_files"), report(SAFE)))

    assert (verdict.status, verdict.reason) == ("dismissed", None)
    assert "has checked" not in str(platform.requests[-1].messages)
    assert "4|     strcpy(d, s);" in platform.requests[1].messages[-1].content
    assert f"{MARKS.line}src/main.c" in platform.requests[4].messages[-1].content


def test_a_search_finds_code_by_its_place_and_no_comment_and_no_document() -> None:
    searches = [
        call("search_code", json.dumps({"pattern": word})) for word in (r"copy_it\(", "it fits", "reviewed", "strcpy")
    ]
    platform = Scripted(*searches, report(SAFE))

    verify(platform)

    found = [request.messages[-1].content.replace(MARKS.line, "") for request in platform.requests[1:]]
    assert found[0].split("\n") == [
        "src/a.c#copy_it:1: int copy_it(char *d, const char *s)",
        "src/a.h#end:7: int copy_it(char *d, const char *s);",
        "src/main.c#main:4: return copy_it(box.room, argv[1]);",
    ]
    assert found[1:3] == [f"no line matches; {SELECTED}"] * 2
    assert found[3] == "src/a.c#copy_it:4: strcpy(d, s);"


@pytest.mark.parametrize("tree", ["directory", "canary"])
def test_what_is_not_found_may_be_in_files_that_the_scan_does_not_select(tree: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f(void);\n")
    tools = reading_toolbox(CodeIndex(DirectoryTree(tmp_path) if tree == "directory" else CANARIES[0]))
    calls = (("read_code", {"path": "b.c"}), ("search_code", {"pattern": "none"}), ("list_files", {"files": "lib/*"}))

    found = [tools.run(name, arguments).text() for name, arguments in calls]

    starts = ("[error] b.c: No such file or directory", "no line matches", "no file matches")
    assert found == [f"{start}; {SELECTED}" for start in starts]


@pytest.mark.parametrize(
    ("votes", "status"),
    [
        ([RISK, RISK, RISK], "confirmed"),
        ([SAFE, SAFE, SAFE], "dismissed"),
        ([SAFE, RISK, RISK], "review"),
        ([SAFE, SAFE, RISK], "review"),
    ],
)
def test_votes_that_differ_are_for_review(votes: list[dict[str, Any]], status: str) -> None:
    platform = Scripted(*map(report, votes))

    (verdict,) = verify(platform, prepared(votes=3))

    assert verdict.status == status
    assert [request.vote for request in platform.requests] == [0, 1, 2]
    assert verdict.has_risk == (RISK in votes)


def test_votes_of_which_none_comes_to_an_end_leave_it_undecided() -> None:
    (verdict,) = verify(Scripted(ModelUnavailable("one"), ModelUnavailable("two")), prepared(votes=2))

    assert (verdict.status, verdict.reason) == ("undecided", "unavailable: one")


def test_only_high_severity_is_voted_on() -> None:
    platform = Scripted(report(RISK))

    assert verify(platform, prepared(found(confidence=0.5), votes=3))[0].status == "confirmed"


def test_a_severity_that_is_given_to_a_rule_decides_who_is_voted_on_and_is_told() -> None:
    raised, lowered = Scripted(report(RISK), report(RISK)), Scripted(report(RISK))
    verify(raised, prepared(found(confidence=0.5), votes=2, severities={"unsafe_api": "high"}))
    verify(lowered, prepared(found(confidence=0.9), votes=2, severities={"unsafe_api": "low"}))

    assert (raised.replies, lowered.replies, len(raised.requests)) == ([], [], 2)
    assert ", high)" in raised.requests[0].messages[1].content
    assert ", low)" in lowered.requests[0].messages[1].content


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [(RISK, RISK, "confirmed"), (SAFE, SAFE, "dismissed"), (RISK, SAFE, "review"), (SAFE, RISK, "review")],
)
def test_a_second_look_that_sees_comments_and_differs_is_for_review(
    first: dict[str, Any], second: dict[str, Any], status: str
) -> None:
    platform = Scripted(report(first), report(second))

    (verdict,) = verify(platform, prepared(second_look=True))

    blanked, raw = (request.messages[1].content for request in platform.requests)
    assert verdict.status == status
    assert ("it fits" in blanked, "it fits" in raw) == (False, True)


def test_conversations_of_a_cluster_share_their_limits() -> None:
    look = call("read_code", '{"path": "src/main.c"}')
    platform = Scripted(look, report(RISK), look)

    (verdict,) = verify(platform, prepared(votes=2), limits=AgentLimits(rounds=3))

    assert (verdict.status, platform.replies) == ("review", [])
    assert "rounds" in (verdict.reason or "")


@pytest.mark.parametrize("profile", [PROFILES["deepseek"], PROFILES["openai"], TEXT])
def test_every_way_of_asking_leads_to_a_verdict(profile: Any) -> None:
    said = str(item(1)).replace("'", '"').replace("True", "true")
    answers = {
        "deepseek": report(RISK),
        "text": text(f"<REPORT>\n[{said}]\n</REPORT>"),
        "json": text(f'{{"report": [{said}]}}'),
    }
    kind = "text" if profile is TEXT else "json" if profile.schemas == "json_schema" else "deepseek"

    assert verify(Scripted(answers[kind]), profile=profile)[0].status == "confirmed"


def moved(files: dict[str, str]) -> dict[str, str]:
    """The same code further down."""
    return {
        **files,
        "src/a.c": "/* new */\nint other;\n\n" + files["src/a.c"].replace("int copy_it", "\n\nint copy_it", 1),
    }


def requests(ready: Any) -> list[Any]:
    platform = Scripted(
        call("read_code", '{"path": "src/a.c#copy_it"}'), report(item(1, evidence=INVENTED)), report(RISK)
    )
    verify(platform, ready)
    # What is left of the time depends on how long the tools took.
    return [replace(request, seconds=0) for request in platform.requests]


def test_a_request_names_no_gid_and_no_line_of_the_file() -> None:
    way = [(None, 5, "s comes in"), ("src/main.c", 6, "argv[1] is given")]
    below = [(None, 10, "s comes in"), ("src/main.c", 6, "argv[1] is given")]
    here, there = prepared(found(way=way)), prepared(found(line=13, way=below), files=moved(FILES), first_gid=4_711)

    assert requests(here) == requests(there)
    assert here.about == there.about
    assert "4711" not in str(requests(there))


def test_an_edit_of_what_is_shown_is_another_question() -> None:
    edited = {**FILES, "src/main.c": FILES["src/main.c"].replace("argv[1]", "argv[2]")}
    elsewhere = {**FILES, "src/other.c": "int unrelated(void)\n{\n    return 1;\n}\n"}
    commented = {**FILES, "src/a.c": COPY.replace("it fits", "it may not fit")}

    assert prepared(files=edited).about != prepared().about
    assert prepared(files=elsewhere).about == prepared(files=commented).about == prepared().about


def test_a_task_in_chinese_asks_for_chinese() -> None:
    platform = Scripted(report(RISK))
    verify(platform, prepared(language="zh"))

    assert "suggestions 请用中文填写" in platform.requests[0].messages[0].content


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("from src/main.c#main:4, then `src/a.c#copy_it:4`.", "from src/main.c:6, then `src/a.c:8`."),
        ("参数在src/main.c#main:4处传入", "参数在src/main.c:6处传入"),
        ("src/a.c#before:checked:1", "src/a.c:11"),
        ("src/a.c:4 and src/a.c#gone:4 and no.c#f:4", "src/a.c:4 and src/a.c#gone:4 and no.c#f:4"),
    ],
)
def test_places_in_texts_become_lines_of_files(said: str, kept: str) -> None:
    (verdict,) = verify(Scripted(report(item(1, trigger_path=said))))

    assert verdict.trigger_path == kept


def test_texts_are_kept_without_what_is_not_seen_and_within_bounds() -> None:
    (verdict,) = verify(Scripted(report(item(1, preconditions="a\x1b[2J" + "b" * 9_000))))

    assert verdict.preconditions.startswith("a\\x1b[2Jbbb")
    assert len(verdict.preconditions) < 5_000


def test_a_candidate_whose_file_is_gone_is_asked_about_all_the_same() -> None:
    platform = Scripted(report(item(1, SAFE, evidence=[])), report(item(1, SAFE, evidence=[])))

    assert verify(platform, prepared(found("gone.c")))[0].status == "review"
    assert "(the line cannot be read)" in platform.requests[0].messages[1].content


THROUGH = [("src/a.c", 7, "get() may return NULL"), ("src/a.c", 8, "d is NULL here and is dereferenced")]


def test_places_of_one_defect_are_one_candidate_and_have_one_verdict() -> None:
    caller = found("src/main.c", 6, "flow_null_dereference", way=THROUGH)
    own = found(pattern="flow_null_dereference", way=THROUGH, confidence=0.5)
    ready = prepared(caller, own, found(line=13))
    platform = Scripted(report(item(1), item(2, SAFE)))
    verdicts = verify(platform, ready)
    task = platform.requests[0].messages[1].content

    assert list(ready.texts) == [1, 2]
    assert [(one.gid, one.status) for one in verdicts] == [(71, "confirmed"), (72, "confirmed"), (73, "dismissed")]
    assert ready.texts[1].startswith("at src/a.c#copy_it:4\n")
    assert "the same defect is reached from src/main.c#main:4; there is a risk if" in task


def test_lines_of_other_callers_are_named_by_their_functions() -> None:
    way = [*THROUGH[:1], ("src/a.c", 8, f"{THROUGH[1][2]} (also from lines 6, 7)")]
    text = prepared(found("src/main.c", 5, "flow_null_dereference", way=way)).texts[1]

    assert "also from" not in text
    assert "is reached from src/main.c#main:4, src/main.c#main:5;" in text


def test_of_many_places_some_are_named() -> None:
    many = [found("src/main.c", line, "flow_null_dereference", way=THROUGH) for line in range(1, 20)]
    text = prepared(*many).texts[1]

    assert text.count("src/main.c") == 1 + 12
    assert "and 6 more; there is a risk" in text


def test_the_words_of_a_model_for_the_condition_do_not_change_the_question() -> None:
    one, other = (prepared(verification=words) for words in ("Is s too long?", "Can d overflow?"))

    assert one.about == other.about
    assert requests(one) == requests(other)
    assert RULES_BY_PATTERN["unsafe_api"].verification in requests(one)[0].messages[1].content


def test_the_condition_of_a_cluster_that_no_model_has_formed_is_kept() -> None:
    verification = f"{RULES_BY_PATTERN['unsafe_api'].verification} The line is in 3 files."
    platform = Scripted(report(RISK))
    verify(platform, prepared(verification=verification))

    assert "The line is in 3 files." in platform.requests[0].messages[1].content


RETURN = {"file": "src/main.c", "line": 6, "quote": "return copy_it(box.room, argv[1]);"}


def seen_beside(*others: dict[str, Any], gid: int = 1) -> Verification:
    """Verify a candidate with a model that sees these defects beside it."""
    ready = prepared()
    verification = Verification(ready, toolbox(ready), profiles=(PROFILES["deepseek"],) * 3, marks=MARKS)
    platform = Scripted(report({**item(1), "gid": gid, "other_findings": list(others)}), *[report(item(1))] * (gid - 1))
    drive(verification.run(), AgentWorld(platform, verification.agent.tools))
    return verification


def test_what_is_seen_beside_the_candidates_is_kept_once() -> None:
    other = {**RETURN, "description": "argc is not checked at src/main.c#main:4", "cwe": "CWE-476"}

    verification = seen_beside(other, other, {**RETURN, "description": " "})

    seen = SeenDefect("src/main.c", 6, "return copy_it(box.room, argv[1]);", "argc is not checked at src/main.c:6", 476)
    assert verification.others == [seen]


@pytest.mark.parametrize(
    ("wrong", "place", "text"),
    [
        ({"quote": "return other();"}, ("src/main.c", 6), "a bug"),
        ({"file": "src/main.c#main", "line": 2, "quote": "{ /* */"}, ("src/main.c", 4), "a bug"),
        ({"file": "gone.c"}, ("src/a.c", 8), "a bug (at gone.c:6, which does not exist)"),
        ({"line": 600, "quote": "gone();"}, ("src/a.c", 8), "a bug (at src/main.c:600, which does not exist)"),
        ({"cwe": 99_999}, ("src/main.c", 6), "a bug"),
    ],
    ids=["invented quote", "trivial quote", "no such file", "no such line", "no such weakness"],
)
def test_what_is_seen_beside_the_candidates_is_not_lost_for_a_wrong_quote(
    wrong: dict[str, Any], place: tuple[str, int], text: str
) -> None:
    (seen,) = seen_beside({**RETURN, "description": "a bug", **wrong}).others

    assert ((seen.file, seen.line), seen.description, seen.cwe) == (place, text, 0)


def test_what_a_rejected_report_says_of_other_bugs_counts() -> None:
    (seen,) = seen_beside({**RETURN, "description": "a bug"}, gid=2).others

    assert (seen.file, seen.line) == ("src/main.c", 6)


def test_defects_beside_the_candidates_beyond_the_limit_are_kept_apart() -> None:
    verification = seen_beside(*({**RETURN, "description": f"bug {number}"} for number in range(OTHERS_MAX + 2)))

    assert len(verification.others) == OTHERS_MAX
    assert [one.description for one in verification.surplus] == [f"bug {OTHERS_MAX}", f"bug {OTHERS_MAX + 1}"]


def test_what_models_report_of_a_candidate_is_part_of_its_question() -> None:
    told = prepared(reports={71: ["name may have no NUL"]})

    assert "a model also reports it, a risk if this holds: name may have no NUL" in told.texts[1]
    assert told.about != prepared().about


def test_the_field_of_a_conversation_with_attempts_is_no_fault_elsewhere() -> None:
    assert FORM.read_value([{"gid": 1, "verdict": "unclear", "no_proof": ""}])[0].gid == 1
    assert FORM.read_value([{"gid": 1, "has_risk": True, "no_proof": "x"}])[0].has_risk
