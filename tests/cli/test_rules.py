"""The rules as users live with them: listed, explained, chosen, weighed, and written by themselves."""

import json
import os
import pty
import re
import sys
import termios
from contextlib import suppress

import pytest

from jarvis_workers.sec.rules import RULES
from tests.cli.commands import COPY
from tests.support.installed import forget, install

TEXT = 'void f(char *a, char *b)\n{\n    strcpy(a, b);\n    int n = atoi(b);\n    old_log(b);\n    old_log("x");\n}\n'
OWN = """\
rules:
  - id: own_log
    language: c/cpp
    category: input_validation
    cwe: 117
    confidence: 0.7
    calls: [old_log]
    argument: {index: 1, literal: false}
    message: Writes text that the caller controls to the log.
    suggestion: Use log_write.
"""


@pytest.fixture(autouse=True)
def fresh_modules():
    yield
    forget(sys.modules)()


@pytest.fixture
def tree(jarvis):
    return jarvis.tree("src", {"a.c": TEXT, ".jarvis/rules/own.yaml": OWN})


def settings(jarvis, text):
    (jarvis.place / "jarvis.yaml").write_text(text)


def scan(jarvis, *options):
    ended = jarvis("sec", "fast", "-p", "src", "--format", "json", *options)
    body = json.loads(ended.out)
    return ended.code, {issue["pattern"]: issue for issue in body["issues"]}, body


def test_the_rules_are_listed_a_line_each_where_nobody_reads_along(jarvis):
    ended = jarvis("sec", "rules")

    head, *rows = ended.out.splitlines()
    assert head.split() == ["ID", "LANGUAGE", "CATEGORY", "CWE", "CONFIDENCE", "TITLE"]
    assert len(rows) == len(RULES)
    assert "\x1b" not in ended.out
    assert ended.code == 0


def test_the_list_can_be_narrowed_and_read_by_programs(jarvis):
    settings(jarvis, "rules: {disable: [unsafe], severity: {mem_transmute: low}}")

    rows = json.loads(jarvis("sec", "rules", "--format", "json", "--language", "rust").out)

    assert {row["language"] for row in rows} == {"rust"}
    found = {row["id"]: row for row in rows}
    assert (found["unsafe"]["on"], found["unwrap_expect"]["on"]) == (False, True)
    assert (found["mem_transmute"]["severity"], found["unsafe"]["severity"]) == ("low", "low")
    assert "unsafe code (off)" in jarvis("sec", "rules", "--category", "unsafe_usage").out


@pytest.mark.slow
@pytest.mark.timing
def test_on_a_terminal_the_list_is_folded_to_its_width(jarvis, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 60))

    # Readline, once imported, tells the width of pytest's terminal to every child.
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with jarvis.start("sec", "rules", stdout=terminal, stdin=terminal, env=environ) as process:
        os.close(terminal)
        said = read_all(controller)

    lines = re.sub("\x1b\\[[0-9;]*m", "", said).splitlines()
    assert process.returncode == 0
    assert max(map(len, lines)) <= 60
    assert "\x1b[1m" in said
    assert [line for line in lines if line in ("C and C++", "Rust")] == ["C and C++", "Rust"]
    assert sum(line.strip().startswith("unsafe_api ") for line in lines) == 1


def read_all(descriptor):
    """Linux says EIO where the other end of a terminal is closed."""
    said = b""
    with suppress(OSError):
        while part := os.read(descriptor, 4096):
            said += part
    os.close(descriptor)
    return said.decode()


def test_the_list_is_shown_when_no_rule_is_on(jarvis):
    settings(jarvis, f"rules: {{disable: [{', '.join(rule.pattern for rule in RULES)}]}}")

    assert jarvis("sec", "rules").out.count("(off)") == len(RULES)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["rules", "--format", "yaml"], '--format: "yaml" is not one of table, json, markdown'),
        (["rules", "--language", "c"], '--language: "c" is not one of c/cpp, rust'),
        (["rules", "--category", "x"], '--category: "x" is not one of '),
        (["explain", "unsafe_apy"], 'unknown rule "unsafe_apy" (did you mean "unsafe_api"?); see all with: jarvis sec'),
        (["rules", "test", "gone"], "gone: no such file or directory"),
        (["rules", "test", "."], ".: no C, C++ or Rust file with examples"),
        (
            ["fast", "-p", ".", "--rules", "unsafe_apy"],
            '--rules: unknown rule "unsafe_apy" (did you mean "unsafe_api"?)',
        ),
        (["fast", "-p", ".", "--exclude-rules", "y"], '--exclude-rules: unknown rule "y"'),
        (["fast", "-p", ".", "--only", "cryptic"], '--category: unknown category "cryptic"'),
        (["fast", "-p", ".", "--rules", "unsafe", "--exclude-rules", "unsafe"], "no rule is enabled"),
        (["fast", "-p", "x", "--project-rules"], "x: no such file or directory"),
        (["fast", "-p", "https://h/r.git", "--project-rules"], "--project-rules: https://h/r.git is not a directory"),
        (["fast", "-p", ".", "--project-rules"], "--project-rules: there is no directory .jarvis/rules"),
    ],
)
def test_what_makes_no_sense_is_one_line(jarvis, args, says):
    ended = jarvis("sec", *args)

    assert ended.line.startswith(f"jarvis: {says}")
    assert ended.code == 2


def test_an_explanation_says_what_why_and_how_to_silence(jarvis):
    said = jarvis("sec", "explain", "unsafe_api").out

    rule = next(rule for rule in RULES if rule.pattern == "unsafe_api")
    flowing = " ".join(said.split())
    for part in (rule.title, rule.description, rule.suggestion, rule.verification):
        assert part in flowing
    for part in (*rule.bad.splitlines(), *rule.good.splitlines(), "https://cwe.mitre.org/data/definitions/120.html"):
        assert part in said
    for part in ("jarvis-ignore[unsafe_api]:", "--exclude-rules unsafe_api", "disable: [unsafe_api]"):
        assert part in said
    assert max(map(len, said.splitlines())) <= 80
    assert "\x1b" not in said


def test_settings_switch_rules_off_and_give_severities(jarvis, tree):
    settings(jarvis, "rules: {disable: [atoi_family], severity: {unsafe_api: low}}")

    code, issues, body = scan(jarvis, "--fail-on", "high")

    assert issues.keys() == {"unsafe_api"}
    assert (issues["unsafe_api"]["severity"], issues["unsafe_api"]["score"]) == ("low", 0.65)
    assert body["summary"]["by_severity"] == {"low": 1}
    assert body["summary"]["score_sum"] == 0.65
    assert (body["run"]["rules"]["off"], body["run"]["rules"]["severity"]) == (["atoi_family"], {"unsafe_api": "low"})
    assert code == 0


def test_a_higher_severity_counts_for_fail_on(jarvis, tree):
    settings(jarvis, "rules: {enable_only: [atoi_family], severity: {atoi_family: high}}")

    code, issues, _ = scan(jarvis, "--fail-on", "high")

    assert (issues["atoi_family"]["severity"], issues["atoi_family"]["score"]) == ("high", 1.2)
    assert code == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--rules", "atoi_family"], {"atoi_family"}),
        (["--exclude-rules", "unsafe_api"], set()),
        (["--only", "unsafe_api"], {"unsafe_api"}),
        (["--rules", "unsafe_api,atoi_family", "--only", "unsafe_api"], {"unsafe_api"}),
    ],
)
def test_flags_choose_rules_over_the_settings(jarvis, tree, options, found):
    settings(jarvis, "rules: {disable: [atoi_family]}")

    assert scan(jarvis, *options)[1].keys() == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: {disable: [atoi_famly]}", 'jarvis.yaml: rules.disable: unknown rule "atoi_famly" (did you mean'),
        ("rules: {severity: {x: low}}", 'jarvis.yaml: rules.severity: unknown rule "x"'),
        ("rules: {paths: [gone]}", "rules: gone: No such file or directory"),
    ],
)
def test_an_unknown_rule_in_the_settings_is_refused_by_place(jarvis, tree, text, says):
    settings(jarvis, text)

    assert jarvis("sec", "fast", "-p", "src").line.startswith(f"jarvis: {says}")


@pytest.mark.slow
def test_rules_of_the_scanned_tree_count_only_when_asked_for(jarvis, tree):
    assert "own_log" not in scan(jarvis)[1]

    _, issues, body = scan(jarvis, "--project-rules")

    assert (issues["own_log"]["line"], issues["own_log"]["cwe"], issues["own_log"]["score"]) == (5, 117, 1.4)
    assert issues["own_log"]["description"] == "Writes text that the caller controls to the log."
    assert body["run"]["rules"]["project"] == ["own_log"]


def test_rules_named_in_the_settings_can_be_weighed_and_reported_in_every_format(jarvis, tree):
    settings(jarvis, "rules: {paths: [src/.jarvis/rules], severity: {own_log: high}, enable_only: [own_log]}")

    assert scan(jarvis)[1]["own_log"]["severity"] == "high"
    for form in ("markdown", "sarif", "html", "junit"):
        assert "own_log" in jarvis("runs", "report", "last", "--format", form).out
    assert "own_log" in jarvis("sec", "rules", "--language", "c/cpp").out
    assert "jarvis-ignore[own_log]" in jarvis("sec", "explain", "own_log").out


def test_rules_of_an_installed_package_count(jarvis, tmp_path, monkeypatch):
    jarvis.tree("src", {"a.c": "void f(void)\n{\n    house_call(a);\n}\n"})
    place = install(tmp_path / "site")
    monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=":")

    _, issues, body = scan(jarvis)

    assert issues["house_rule"]["description"] == "Is not allowed here."
    assert list(body["run"]["rules"]["packages"]) == ["house"]


@pytest.mark.slow
def test_a_worker_that_lacks_the_package_leaves_the_files_not_checked(jarvis, tmp_path, monkeypatch):
    monkeypatch.setenv("JARVIS_PROCESSES", "1")
    jarvis.tree("src", {"a.c": COPY})
    monkeypatch.syspath_prepend(install(tmp_path / "site"))

    code, issues, body = scan(jarvis)

    (gap,) = body["summary"]["not_checked"]
    assert 'the rules "house"' in gap["reason"]
    assert "is not installed on this worker" in gap["reason"]
    assert (code, issues) == (3, {})


def test_a_package_that_does_not_load_is_one_line(jarvis, tmp_path, monkeypatch):
    jarvis.tree("src", {"a.c": COPY})
    monkeypatch.syspath_prepend(install(tmp_path / "site", code="raise RuntimeError('broken')"))

    ended = jarvis("sec", "fast", "-p", "src")

    assert 'entry point "house"' in ended.line
    assert "RuntimeError: broken" in ended.line
    assert ended.code == 2


def test_rules_are_tried_on_marked_examples(jarvis, tree):
    example = tree / ".jarvis" / "rules" / "own.c"
    example.write_text(
        'void f(void)\n{\n    old_log(b); // ruleid: own_log\n    // ok: own_log\n    old_log("x");\n}\n'
    )

    for path in ("src/.jarvis/rules", "src/.jarvis/rules/own.yaml"):
        ended = jarvis("sec", "rules", "test", path)
        assert (ended.code, ended.out) == (0, "2 marks of 1 rule in 1 file: all passed\n")

    example.write_text("void f(void)\n{\n    old_log(b);\n    x(); // ruleid: own_log\n}\n")
    ended = jarvis("sec", "rules", "test", "src/.jarvis/rules")
    assert ended.code == 1
    assert ended.out == (
        "src/.jarvis/rules/own.c:3: unexpected own_log\n"
        "src/.jarvis/rules/own.c:4: missed own_log\n"
        "1 mark of 1 rule in 1 file: 2 failed\n"
    )


def test_a_rule_of_ones_own_without_an_example_is_noted(jarvis, tree):
    settings(jarvis, "rules: {paths: [src/.jarvis/rules]}")
    jarvis.tree("examples", {"b.c": "int i; // ok: unsafe_api\n", "c.c": "int i;\n"})

    ended = jarvis("sec", "rules", "test", "examples/b.c")

    assert ended.out.splitlines()[0] == "note: no example marks where own_log fires"
    assert ended.code == 0
    assert "examples/c.c: no line is marked" in jarvis("sec", "rules", "test", "examples/c.c").line


def test_without_a_path_rules_are_tried_on_their_own_examples(jarvis):
    ended = jarvis("sec", "rules", "test")

    assert ended.out == f"{len(RULES)} rules on their own examples: all passed\n"
    assert ended.code == 0
