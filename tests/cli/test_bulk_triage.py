"""Bulk triage: one command judges all findings that a filter leaves, one command undoes exactly that."""

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from jarvis_cli.main import run
from tests.cli.commands import scanned_data

PER_FILE, FILES_EACH = 20, 10
RULE = ("--rule", "atoi_family")


def source(name):
    """Return a file with 20 findings of atoi_family, each of its own line of code."""
    return "".join(f"int {name}_{n}(char *s) {{ return atoi(s + {n}); }}\n" for n in range(PER_FILE))


@pytest.fixture(scope="module")
def kept_scan(tmp_path_factory, sqlite_template):
    """The data of a scan with 400 findings of atoi_family, half of them below tests/, and one of another rule there."""
    place = tmp_path_factory.mktemp("bulk")
    for directory in ("src", "tests/unit"):
        (place / "tree" / directory).mkdir(parents=True)
        for number in range(FILES_EACH):
            (place / "tree" / directory / f"f{number}.c").write_text(source(f"f{number}"))
    (place / "tree/tests/copy.c").write_text("void f(char *a, char *b) { strcpy(a, b); }\n")
    return scanned_data(place, "tree", sqlite_template)


@pytest.fixture
def triage(jarvis, kept_scan):
    shutil.copytree(kept_scan, os.environ["JARVIS_DATA_DIR"], dirs_exist_ok=True)
    return lambda *args: jarvis("sec", "triage", *args)


def listed(triage, *filters):
    return json.loads(triage("last", "--list", "--json", *filters).out)


def verdicts(triage):
    return Counter((row["pattern"], row["file"].split("/")[0], row["verdict"]) for row in listed(triage))


@pytest.mark.slow
def test_all_of_one_rule_below_tests_is_judged_by_one_command_and_undone_by_one(triage):
    other = next(row["id"] for row in listed(triage, *RULE) if row["file"].startswith("tests/"))
    assert triage("last", "--mark", f"{other}=true").code == 0
    before = listed(triage)

    marked = triage("last", *RULE, "--file", "tests/**", "--mark", "false", "--reason", "input of our own tests")

    assert marked.line == "marked 199 findings as false; undo with: jarvis sec triage --undo"
    assert verdicts(triage) == {
        ("atoi_family", "src", None): 200,
        ("atoi_family", "tests", False): 199,
        ("atoi_family", "tests", True): 1,
        ("unsafe_api", "tests", None): 1,
    }
    undone = triage("--undo")
    assert undone.line == (
        "undone: mark 199 findings as false (--rule atoi_family --file tests/**); 199 verdicts reverted"
    )
    assert listed(triage) == before


@pytest.mark.slow
def test_undo_goes_back_step_by_step_and_leaves_what_was_judged_again(triage):
    triage("last", *RULE, "--file", "src/f0.c,src/f1.c", "--mark", "wontfix", "--reason", "internal")
    triage("last", *RULE, "--file", "src/f0.c", "--mark", "true", "--all")
    assert Counter(row["verdict"] for row in listed(triage, "--file", "src/f?.c")) == {
        None: 160,
        "wontfix": 20,
        True: 20,
    }

    assert "20 verdicts reverted" in triage("--undo").line
    assert Counter(row["verdict"] for row in listed(triage, "--status", "wontfix")) == {"wontfix": 40}
    first = listed(triage, "--file", "src/f1.c")[0]["id"]
    store_a_later_verdict = triage("last", "--mark", f"{first}=true")
    assert store_a_later_verdict.code == 0
    triage("--undo")
    assert "40 verdicts reverted" in triage("--undo").line
    assert triage("--undo").line.startswith("jarvis: nothing to undo")
    assert {row["verdict"] for row in listed(triage)} == {None}


@pytest.mark.slow
def test_a_file_that_was_imported_and_a_verdict_that_was_removed_are_undone_too(triage):
    triage("last", "--file", "src/f0.c", "--mark", "later")
    triage("last", "--export", "team.yaml")
    rows = yaml.safe_load(Path("team.yaml").read_text())["judgements"]
    assert [row["verdict"] for row in rows] == ["later"] * PER_FILE
    triage("last", "--forget", rows[0]["fingerprint"])
    assert len(listed(triage, "--status", "later")) == PER_FILE - 1

    assert "1 verdict reverted" in triage("--undo").line
    assert len(listed(triage, "--status", "later")) == PER_FILE
    triage("--undo")
    assert "20 of them new" in triage("--import", "team.yaml").line
    assert triage("--undo").line.startswith("undone: import team.yaml; 20 verdicts")
    assert listed(triage, "--status", "later") == []


FILTERED = [
    (["--severity", "medium"], 1),
    (["--severity", "low,medium"], 401),
    (["--category", "input_validation", "--file", "tests"], 200),
    (["--file", "tests/", "--file", "src/f0.c"], 221),
    (["--file", "unit/**"], 0),
    (["--file", "f3.c"], 40),
    (["--status", "heuristic,open"], 401),
    (["--status", "open", "--status", "confirmed"], 0),
    (["--status", "later"], 0),
    (["--rule", "scanf_no_width"], 0),
]


def test_filters_choose_what_is_listed(triage):
    for filters, number in FILTERED:
        assert (filters, len(listed(triage, *filters))) == (filters, number)


def test_files_are_named_as_the_text_report_shows_them_too(jarvis, triage):
    shown = jarvis("runs", "report", "last", "-v").out.partition("f0.c:")[0].split("\n")[-1] + "f0.c"
    assert shown.endswith("/tree/src/f0.c")

    assert len(listed(triage, "--file", shown)) == PER_FILE
    assert len(listed(triage, "--file", f"{shown.removesuffix('f0.c')}**")) == PER_FILE * FILES_EACH
    assert triage("last", "--list", "--file", "gone/**").line == "no finding matches --file gone/**"


def test_a_list_ends_with_how_the_findings_were_judged(triage):
    triage("last", "--file", "src/f0.c", "--mark", "later")

    assert triage("last", "--list", "--file", "src/").line == "200 findings: 20 later, 180 open"


def test_an_export_says_that_its_directory_is_missing(triage):
    ended = triage("--export", "gone/team.yaml")

    assert ended.code == 2
    assert "--export gone/team.yaml: its directory does not exist; create it" in ended.line


REFUSED = [
    (["last", "--mark", "false", "--reason", "x"], "judges many findings: select them with --rule, --file or another"),
    (["last", *RULE, "--mark", "false"], "judging a finding false requires a reason"),
    (["last", *RULE, "--mark", "wontfix"], "judging a finding won't fix requires a reason"),
    (["last", *RULE, "--mark", "true", "--mark", "later"], "give it once"),
    (["last", *RULE, "--mark", "C1=true"], "cannot be combined with filters"),
    (["last", "--rule", "atoi_famly", "--list"], '--rule: "atoi_famly" is unknown (did you mean "atoi_family"?)'),
    (["last", "--severity", "hgih", "--list"], '--severity: "hgih" is unknown (did you mean "high"?)'),
    (["last", "--status", "new", "--list"], '--status: "new" is unknown; expected one of proved, confirmed, review, '),
    (["last", "--category", "input_val", "--list"], '(did you mean "input_validation"?)'),
    (["last", "--undo", *RULE], "--rule cannot be combined with --undo"),
    (["last", "--list", "--yes"], "--yes requires --mark"),
]


def test_bulk_marks_that_cannot_be_taken_are_one_line_and_judge_nothing(triage):
    for args, says in REFUSED:
        ended = triage(*args)
        assert (ended.code, says in ended.line) == (2, True), ended.line
    assert {row["verdict"] for row in listed(triage)} == {None}


def test_a_bulk_mark_that_matches_nothing_says_so(triage):
    assert triage("last", "--rule", "scanf_no_width", "--mark", "true").line.startswith(
        "no open finding matches --rule scanf_no_width"
    )


class Typed:
    """Standard input of somebody at a terminal."""

    def __init__(self, text):
        self.text = text

    def isatty(self):
        return True

    def readline(self, *_):
        text, self.text = self.text, ""
        return text


@pytest.mark.parametrize(("answer", "judged"), [("n\n", 0), ("\n", 0), ("", 0), ("y\n", 200)])
def test_at_a_terminal_a_bulk_mark_asks_with_the_number(triage, monkeypatch, capfd, answer, judged):
    monkeypatch.setattr(sys, "stdin", Typed(answer))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    run(["sec", "triage", "last", *RULE, "--file", "tests/", "--mark", "true"])

    said = capfd.readouterr().err
    assert "and 197 more\nMark 200 findings as true? [y/N] " in said
    assert ("no finding was judged" in said) is (judged == 0)
    monkeypatch.setattr(sys, "stdin", sys.__stdin__)
    assert len(listed(triage, "--status", "true")) == judged


@pytest.mark.slow
@pytest.mark.timing
def test_wont_fix_is_set_aside_with_its_reason_and_later_stays(jarvis, kept_scan, triage):
    jarvis.tree("tree", {"src/f0.c": source("f0"), "src/f1.c": source("f1")})
    triage("last", "--file", "src/f0.c", "--mark", "wontfix", "--reason", "internal tool")
    triage("last", "--file", "src/f1.c", "--mark", "later")

    ended = jarvis("sec", "fast", "-p", "tree", "--format", "json", "--fail-on", "low")

    assert ended.code == 1
    assert "20 findings in 2 files; won't fix: 20" in ended.err
    report = json.loads(ended.out)
    assert {issue["judged"] for issue in report["issues"]} == {"later"}
    results = json.loads(jarvis("runs", "report", "last", "--format", "sarif").out)["runs"][0]["results"]
    aside = next(one for one in results if "suppressions" in one)
    assert aside["properties"]["judged"] == "wontfix"
    assert aside["suppressions"] == [{"kind": "external", "justification": "internal tool"}]
    assert (report["summary"]["judged_wontfix"], report["summary"]["judged_later"]) == (20, 20)
    page = jarvis("runs", "report", "last", "--format", "html").out
    assert "Marked won&#x27;t fix in triage: 20." in page
    assert "Postponed in triage, and still listed: 20 findings." in page
    triage("last", "--file", "src/f1.c", "--status", "later", "--mark", "wontfix", "--reason", "x")
    assert jarvis("sec", "fast", "-p", "tree", "--format", "json", "--fail-on", "low").code == 0
