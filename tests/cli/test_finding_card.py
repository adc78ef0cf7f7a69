"""A finding on the screen: all that was found out about it, and nothing that it says itself is obeyed."""

from typing import Any

from jarvis_workers.sec.commands.finding_card import card, listing
from jarvis_workers.sec.report_document import Excerpt
from jarvis_workers.sec.triage_record import Judgement
from tests.support.issues import issue_of

ISSUE: dict[str, Any] = {
    "id": "C1a2b3c",
    "gid": 3,
    "pattern": "unsafe_api",
    "file": "src/list.c",
    "line": 40,
    "evidence": "strcpy(d, s);",
    "description": "copies without a bound",
    "suggestion": "pass the size",
    "severity": "high",
    "score": 2.4,
    "status": "confirmed",
    "cwe": 120,
    "fingerprint": "0" * 16,
}
VERDICT = {
    "has_risk": True,
    "verification": "Does s fit into d?",
    "preconditions": "s is longer than d",
    "trigger_path": "main calls copy",
    "consequences": "the stack is overwritten",
    "suggestions": "use strlcpy",
    "reason": None,
    "quotes": [{"file": "src/list.c", "line": 39, "quote": "char d[8];"}],
    "path": [{"file": "src/main.c", "line": 5, "note": "comes from outside"}],
}


def page(issue: dict[str, Any], excerpt: Excerpt | None = None, **more: Any) -> str:
    return card(issue_of(issue), excerpt, twins=more.pop("twins", []), judgement=more.pop("said", None), place="1 of 2")


def test_a_verdict_is_shown_with_its_quotes_and_the_way_to_it() -> None:
    said = page(ISSUE | VERDICT, Excerpt(39, ("char d[8];", "strcpy(d, s);")))

    assert "1 of 2  confirmed  high, score 2.40  C1a2b3c" in said
    assert "src/list.c:40  unsafe_api, CWE-120" in said
    assert ">     40  strcpy(d, s);" in said
    rows = {tuple(line.split(maxsplit=1)) for line in said.splitlines()}
    assert rows > {
        ("What", "copies without a bound"),
        ("Verified", "Does s fit into d?"),
        ("If", "s is longer than d"),
        ("How", "main calls copy"),
        ("Then", "the stack is overwritten"),
        ("Do", "use strlcpy"),
        ("Step", "src/main.c:5: comes from outside"),
        ("Quote", "src/list.c:39: char d[8];"),
    }
    assert "pass the size" not in said


def test_without_code_the_evidence_is_shown_and_without_a_verdict_the_advice_of_the_rule() -> None:
    said = page(ISSUE | {"status": "heuristic"})

    assert "    strcpy(d, s);" in said
    assert "pass the size" in said


def test_twins_and_what_was_said_before_are_told() -> None:
    before = Judgement(fingerprint="0" * 16, rule="unsafe_api", verdict=False, reason="measured", by="ann")

    said = page(ISSUE, twins=list(range(1, 13)), said=before)

    assert "the same code is also on line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more" in said
    assert "judged false by ann: measured" in said


def test_hostile_text_neither_fills_nor_commands_the_screen() -> None:
    hostile = "\x1b[2J\u202e[red]" + "x\n" * 100_000
    told = {name: hostile for name in ("description", "preconditions", "consequences", "evidence", "file", "reason")}
    quotes = {"quotes": [{"file": hostile, "line": 1, "quote": hostile}] * 1_000}

    said = page(ISSUE | told | quotes)

    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\\x1b[2J\\u202e[red]" in said
    assert len(said) < 100_000


def test_a_list_has_a_line_for_each_finding_whatever_its_file_is_called() -> None:
    lines = listing([issue_of(ISSUE | {"file": "a\n\x1bb.c"}), issue_of(ISSUE)], {}).splitlines()

    assert len(lines) == 3
    assert lines[1].split() == ["C1a2b3c", "-", "confirmed", "high", "a", "\\x1bb.c:40", "unsafe_api"]
