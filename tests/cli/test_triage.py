"""`jarvis sec triage`: decisions at a terminal or by a script, and their effect on later runs."""

import json
import os
import pty
import re
import select
import shutil
import signal
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from tests.cli.commands import COPY, SYSTEM, scanned_data

SECONDS = 30
UNDO = "undo with: jarvis sec triage --undo"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


FILES = {
    "a.c": COPY,
    "b.c": COPY,
    "c.c": "int n(char *s) { return atoi(s); }\n",
    "d.c": COPY.replace("\n", " // jarvis-ignore: x\n"),
}


@pytest.fixture(scope="module")
def kept_scan(tmp_path_factory, sqlite_template):
    """The data of a scan of FILES, which is done once."""
    place = tmp_path_factory.mktemp("kept")
    (place / "src").mkdir()
    for name, text in FILES.items():
        (place / "src" / name).write_text(text)
    return scanned_data(place, "src", sqlite_template)


@pytest.fixture
def scanned(jarvis, kept_scan):
    """A tree with two findings of one rule, one of another, and one that a comment suppresses; it was scanned."""
    shutil.copytree(kept_scan, os.environ["JARVIS_DATA_DIR"], dirs_exist_ok=True)
    return jarvis.tree("src", FILES)


def scan(jarvis, *options):
    ended = jarvis("sec", "fast", "-p", "src", "--format", "json", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def listed(jarvis):
    return json.loads(jarvis("sec", "triage", "last", "--list", "--json").out)


def name_of(jarvis, file):
    return next(row["id"] for row in listed(jarvis) if row["file"] == file)


def files(report):
    return [issue["file"] for issue in report["issues"]]


class Terminal:
    """A command at a terminal: `until` waits for words on the screen, `type` answers."""

    def __init__(self, jarvis, *args):
        self.controller, terminal = pty.openpty()
        termios.tcsetwinsize(terminal, (40, 100))
        environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        self.process = jarvis.start(*args, env=environ | {"TERM": "xterm"}, **streams)
        os.close(terminal)
        self.seen = ""

    def until(self, words):
        said = b""
        while words.encode() not in said:
            ready, _, _ = select.select([self.controller], [], [], SECONDS)
            assert ready, f"no {words!r} in {said!r}"
            said += os.read(self.controller, 4096)
        self.seen += said.decode()
        return COLOURS.sub("", said.decode())

    def type(self, keys):
        os.write(self.controller, keys.encode())

    def end(self):
        """Return the exit code; Linux says EIO where the other end of a terminal is closed."""
        said = b""
        with suppress(OSError):
            while part := os.read(self.controller, 4096):
                said += part
        self.seen += said.decode()
        os.close(self.controller)
        return self.process.wait(SECONDS), COLOURS.sub("", said.decode())


@pytest.mark.slow
@pytest.mark.timing
def test_at_a_terminal_findings_are_judged_key_by_key_and_saved_at_once(jarvis, scanned, monkeypatch):
    Path("editor.py").write_text("import sys; open('edited', 'w').write(repr(sys.argv[1:]))")
    monkeypatch.setenv("VISUAL", f"{sys.executable} editor.py")
    terminal = Terminal(jarvis, "sec", "triage", "last")

    first = terminal.until("quit > ")
    assert "1 of 3  heuristic  high, score 2.40" in first
    assert "a.c:1  unsafe_api, CWE-120" in first
    assert ">      1  void f(char *a, char *b) { strcpy(a, optarg); }" in first
    terminal.type("f")
    terminal.until("why is it false? ")
    terminal.type("measured\n")
    assert "b.c:1" in terminal.until("quit > ")
    assert [row["verdict"] for row in listed(jarvis)] == [False, None, None]
    terminal.type("e")
    assert "b.c:1" in terminal.until("quit > ")
    assert re.fullmatch(r"\['\+1', '/\S+/src/b\.c'\]", Path("edited").read_text())
    terminal.type("?")
    assert "$VISUAL or $EDITOR" in terminal.until("quit > ")
    terminal.type("\x1b[D")
    assert "the keys are: " in terminal.until("quit > ")
    terminal.type("t")
    assert "3 of 3" in terminal.until("quit > ")
    terminal.type("b")
    assert "judged true by" in terminal.until("quit > ")
    terminal.type("q")
    code, said = terminal.end()

    assert code == 0
    assert "1 judged true, 1 false; 1 left, continue with: jarvis sec triage " in said
    assert [(row["verdict"], row.get("reason")) for row in listed(jarvis)] == [
        (False, "measured"),
        (True, ""),
        (None, None),
    ]


@pytest.mark.slow
@pytest.mark.timing
def test_a_second_sitting_goes_on_where_the_first_has_ended(jarvis, scanned):
    jarvis("sec", "triage", "last", "--mark", f"{name_of(jarvis, 'a.c')}=true")

    rest = Terminal(jarvis, "sec", "triage", "last")
    assert "1 of 2" in rest.until("quit > ")
    rest.type("t")
    assert "2 of 2" in rest.until("quit > ")
    rest.process.send_signal(signal.SIGINT)
    code, said = rest.end()
    assert code == 130
    assert "1 judged true, 0 false; 1 left, continue with: jarvis sec triage " in said
    assert [row["verdict"] for row in listed(jarvis)] == [True, True, None]
    every = Terminal(jarvis, "sec", "triage", "last", "--all")
    assert "1 of 3" in every.until("quit > ")
    every.type("s")
    every.until("quit > ")
    every.type("s")
    every.until("quit > ")
    every.type("s")
    assert "0 judged true, 0 false; 3 left" in every.end()[1]


@pytest.mark.slow
def test_when_all_is_judged_there_is_nothing_to_ask(jarvis, scanned):
    marks = [word for row in listed(jarvis) for word in ("--mark", f"{row['id']}=true")]
    assert jarvis("sec", "triage", "last", *marks).line == f"3 findings judged; {UNDO}"

    assert "no findings are left to judge" in Terminal(jarvis, "sec", "triage", "last").end()[1]


@pytest.mark.slow
@pytest.mark.timing
def test_nothing_of_the_code_reaches_the_terminal_but_as_characters(jarvis):
    jarvis.tree("src", {"\x1b]0;owned\x07.c": COPY.replace("strcpy(a, optarg);", 'strcpy(a, "\x1b[2J\u202e");')})
    scan(jarvis)

    terminal = Terminal(jarvis, "sec", "triage", "last")
    terminal.until("quit > ")
    terminal.type("q")
    terminal.end()

    assert "\\x1b]0;owned\\x07.c" in terminal.seen
    assert not set(COLOURS.sub("", terminal.seen)) & {"\x1b", "\x07", "\u202e"}
    assert "\x1b" not in jarvis("sec", "triage", "last", "--list").out


@pytest.mark.slow
def test_later_scans_heed_what_a_script_has_marked_and_an_earlier_report_stays(jarvis, scanned):
    before = jarvis("runs", "report", "last", "--format", "json").out
    first = json.loads(before)["run"]["id"]
    marks = ("--mark", f"{name_of(jarvis, 'a.c')}=false", "--mark", f"{name_of(jarvis, 'b.c')}=true")

    assert jarvis("sec", "triage", "last", *marks, "--reason", "measured").line == f"2 findings judged; {UNDO}"
    after = jarvis("sec", "fast", "-p", "src", "--format", "json")

    assert after.line.endswith("done: 2 findings in 4 files; suppressed: 1; judged false: 1")
    report = json.loads(after.out)
    assert [(issue["file"], issue.get("judged")) for issue in report["issues"]] == [("b.c", True), ("c.c", None)]
    assert jarvis("runs", "report", first, "--format", "json").out == before
    assert files(scan(jarvis, "--no-triage")) == ["a.c", "b.c", "c.c"]


@pytest.mark.slow
def test_what_was_judged_false_can_be_taken_back_in_a_later_run(jarvis, scanned):
    jarvis("sec", "triage", "last", "--mark", f"{name_of(jarvis, 'a.c')}=false", "--reason", "x")
    scan(jarvis)
    last = listed(jarvis)[-1]
    assert (last["file"], last["status"], last["verdict"]) == ("a.c", "suppressed", False)

    assert jarvis("sec", "triage", "last", "--forget", last["fingerprint"]).line == f"1 verdict removed; {UNDO}"

    assert files(scan(jarvis)) == ["a.c", "b.c", "c.c"]


def test_the_list_is_for_people_too(jarvis, scanned):
    name = name_of(jarvis, "a.c")
    jarvis("sec", "triage", "last", "--mark", f"{name}=false", "--reason", "measured twice")

    head, first, *_ = jarvis("sec", "triage", "last", "--list").out.splitlines()

    assert head.split() == ["ID", "JUDGED", "STATUS", "SEVERITY", "PLACE", "RULE", "REASON"]
    assert first.split() == [name, "false", "heuristic", "high", "a.c:1", "unsafe_api", "measured", "twice"]


@pytest.mark.slow
def test_judgements_go_to_a_file_and_come_from_it(jarvis, scanned, monkeypatch, tmp_path):
    marks = ("--mark", f"{name_of(jarvis, 'a.c')}=false", "--mark", f"{name_of(jarvis, 'b.c')}=true")
    jarvis("sec", "triage", "last", *marks, "--reason", "measured", "--reason", "seen")
    assert jarvis("sec", "triage", "last", "--export", "team.yaml").line == "2 verdicts written to team.yaml"
    all_of_them = jarvis("sec", "triage", "--export", "-").out
    assert all_of_them == Path("team.yaml").read_text()
    said = yaml.safe_load(all_of_them)["judgements"]
    assert [(row["file"], row["verdict"], row["reason"]) for row in said] == [
        ("a.c", False, "measured"),
        ("b.c", True, "seen"),
    ]

    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "elsewhere"))
    heeded = scan(jarvis, "--triage", "team.yaml")
    assert (files(heeded), heeded["run"]["triage"]) == (["b.c", "c.c"], "team.yaml")
    assert files(scan(jarvis)) == ["a.c", "b.c", "c.c"]
    assert jarvis("sec", "triage", "--import", "team.yaml").line == f"team.yaml: 2 verdicts, 2 of them new; {UNDO}"
    assert files(scan(jarvis)) == ["b.c", "c.c"]


@pytest.mark.slow
def test_a_file_in_the_scanned_tree_is_heeded_only_when_it_is_named(jarvis, scanned):
    jarvis("sec", "triage", "last", "--mark", f"{name_of(jarvis, 'a.c')}=false", "--reason", "x")
    (scanned / ".jarvis").mkdir()
    jarvis("sec", "triage", "last", "--export", "src/.jarvis/triage.yaml")
    jarvis("sec", "triage", "last", "--forget", name_of(jarvis, "a.c"))

    assert files(scan(jarvis)) == ["a.c", "b.c", "c.c"]
    assert files(scan(jarvis, "--triage", "src/.jarvis/triage.yaml")) == ["b.c", "c.c"]


def test_an_export_does_not_lose_what_the_file_says(jarvis, scanned):
    other = "{fingerprint: ffffffffffffffff, rule: gets, verdict: true}"
    Path("team.yaml").write_text(f"version: 1\njudgements: [{other}]\n")

    ended = jarvis("sec", "triage", "last", "--export", "team.yaml")

    assert ended.code == 2
    assert "team.yaml: contains 1 verdict that would be missing from the new file; import it" in ended.line
    jarvis("sec", "triage", "--import", "team.yaml")
    assert jarvis("sec", "triage", "--export", "team.yaml").code == 0
    assert "ffffffffffffffff" in Path("team.yaml").read_text()


@pytest.mark.parametrize("use", [["sec", "triage", "--import"], ["sec", "fast", "-p", "src", "--triage"]])
def test_of_a_file_with_a_bad_entry_none_is_taken(jarvis, scanned, use):
    good = "{fingerprint: ffffffffffffffff, rule: gets, verdict: true}"
    bad = "{fingerprint: eeeeeeeeeeeeeeee, rule: gets, verdict: false}"
    Path("team.yaml").write_text(f"version: 1\njudgements:\n- {good}\n- {bad}\n- 7\n")

    ended = jarvis(*use, "team.yaml")

    assert ended.code == 2
    assert ended.err.splitlines() == [
        "team.yaml:4: judgement 2: verdict is false, which needs a reason",
        "team.yaml:5: judgement 3: is 7; expected a mapping of field names to values",
        "jarvis: team.yaml: 2 of its entries are invalid, so none was imported; fix or remove the entries named above",
    ]
    assert "ffff" not in jarvis("sec", "triage", "--export", "-").out


REFUSED = [
    ([], "not a terminal; use --list and --mark"),
    (["--list"], "name a run, such as last; see: jarvis runs list"),
    (["nosuch", "--list"], 'no run "nosuch"'),
    (["last", "--mark", "C000000=true"], 'no finding "C000000" in the report of this run; see: --list'),
    (
        ["last", "--mark", "C000000"],
        "--mark C000000: should be ID=STATE, or STATE with filters; states: true, false, wontfix, later",
    ),
    (["last", "--mark", "X=true", "--reason", "a", "--reason", "b"], "2 reasons for 1 marks; give one for all"),
    (["last", "--list", "--export", "x"], "--list and --export cannot be combined; give one at a time"),
    (["last", "--reason", "x", "--list"], "--reason requires --mark"),
    (["last", "--json", "--export", "-"], "--json requires --list"),
    (["last", "--forget", "\x1b"], 'no finding "\\x1b"'),
    (["--import", "none.yaml"], "none.yaml: cannot be read: No such file or directory"),
    (["--export", "no/such/place.yaml"], "--export no/such/place.yaml: its directory does not exist"),
]


def test_what_cannot_be_done_is_one_line(jarvis, scanned):
    for args, says in REFUSED:
        ended = jarvis("sec", "triage", *args)

        assert ended.code == 2
        assert says in ended.line


def test_a_false_one_needs_a_reason_and_of_several_marks_none_is_kept_then(jarvis, scanned):
    a, b = name_of(jarvis, "a.c"), name_of(jarvis, "b.c")

    ended = jarvis("sec", "triage", "last", "--mark", f"{a}=true", "--mark", f"{b}=false")

    assert f"{b}: judging a finding false requires a reason" in ended.line
    assert [row["verdict"] for row in listed(jarvis)] == [None, None, None]


def test_two_ways_to_heed_are_one_too_many(jarvis):
    jarvis.tree("src", {"a.c": SYSTEM})

    ended = jarvis("sec", "fast", "-p", "src", "--triage", "x.yaml", "--no-triage")

    assert "--triage and --no-triage cannot be combined" in ended.line


def imported(jarvis, true, false, rule="unsafe_api"):
    """Take in so many judgements of other findings of a rule."""
    rows = [{"fingerprint": f"{n:016x}", "rule": rule, "verdict": n < true, "reason": "x"} for n in range(true + false)]
    Path("said.yaml").write_text(yaml.safe_dump({"version": 1, "judgements": rows}))
    assert jarvis("sec", "triage", "--import", "said.yaml").code == 0


def confidence(report):
    return report["issues"][0]["confidence"]


def test_the_rules_can_be_listed_by_how_their_findings_were_judged(jarvis):
    assert "no finding of these rules has a verdict" in jarvis("sec", "rules", "--stats").out
    imported(jarvis, 2, 8)

    lines = jarvis("sec", "rules", "--stats").out.splitlines()
    (row,) = json.loads(jarvis("sec", "rules", "--stats", "--format", "json").out)

    assert lines[0].split() == ["ID", "TRUE", "FALSE", "SHARE", "STATED", "LEARNED"]
    assert lines[1].split() == ["unsafe_api", "2", "8", "20%", "0.65", "0.42"]
    assert lines[-2].endswith("LEARNED: the mean of Beta(10 x stated + true, 10 x (1 - stated) + false).")
    learned = {"share": 0.2, "learned": 0.42, "enough": True}
    assert row == {"rule": "unsafe_api", "true": 2, "false": 8, "stated": 0.65} | learned
    assert "no finding of these rules" in jarvis("sec", "rules", "--stats", "--language", "rust").out
    assert "not one of table, json" in jarvis("sec", "rules", "--stats", "--format", "markdown").line


def test_with_too_few_judgements_a_rule_is_said_not_to_be_weighed(jarvis):
    imported(jarvis, 1, 8)

    assert "too few verdicts" in jarvis("sec", "rules", "--stats").out


@pytest.mark.slow
def test_rules_are_weighed_anew_only_where_that_is_asked(jarvis):
    jarvis.tree("src", {"a.c": COPY})
    imported(jarvis, 2, 8)
    stated = confidence(scan(jarvis))

    learned = scan(jarvis, "--learned")

    assert learned["run"]["rules"]["learned"] == {"unsafe_api": -0.23}
    assert confidence(learned) == round(stated - 0.23, 2)
    (jarvis.place / "jarvis.yaml").write_text("rules: {learned: true}")
    assert confidence(scan(jarvis)) == confidence(learned)
    assert confidence(scan(jarvis, "--no-learned")) == stated
