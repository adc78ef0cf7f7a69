"""A table of command lines: for each its exit code, and what it writes to standard output and to standard error.

None of them scans: one run is made before, by a scan of its own, and read from there.  What is empty is written "";
any other text is looked for; None is not looked at.
"""

from typing import NamedTuple

import pytest

from tests.cli.commands import COPY, SYSTEM


class Case(NamedTuple):
    """A command line, and what becomes of it."""

    line: str
    code: int
    out: str | None = ""
    err: str | None = ""


HELP = "Usage: jarvis"
CASES = (
    # Help and version.
    Case("", 0, "Examples:"),
    Case("-h", 0, HELP),
    Case("--help", 0, "Exit codes:"),
    Case("sec -h", 0, "fast       Scan with rules"),
    Case("sec", 2, "", "Commands:"),
    Case("sec fast -h", 0, "Usage: jarvis sec fast [OPTIONS] [PATH...]"),
    Case("sec agent -h", 0, "Agents:\n"),
    Case("sec rules -h", 0, "--category, --only NAME"),
    Case("sec rules test -h", 0, "Examples:"),
    Case("sec triage -h", 0, "Examples:"),
    Case("sec explain -h", 0, "Examples:"),
    Case("sec reproduce -h", 0, "Examples:"),
    Case("agent -h", 0, "Examples:"),
    Case("code -h", 0, "accept  Merge a change into the current branch"),
    Case("code accept -h", 0, "Examples:"),
    Case("runs -h", 0, "resume      Continue a run that was interrupted or has spent its budget,\n"),
    Case("runs list -h", 0, "Examples:"),
    Case("runs show -h", 0, "Examples:"),
    Case("runs prune -h", 0, "Usage: jarvis runs prune [OPTIONS] [RUN...]"),
    Case("metrics -h", 0, "Examples:"),
    Case("worker start -h", 0, "-c, --concurrency NUMBER"),
    Case("worker flower -h", 0, "--port PORT"),
    Case("doctor -h", 0, "Examples:"),
    Case("admin migrate -h", 0, "Examples:"),
    Case("admin roles -h", 0, "Examples:"),
    Case("admin status -h", 0, "Examples:"),
    Case("sandbox run -h", 0, "Usage: jarvis sandbox run [OPTIONS] DIR -- COMMAND..."),
    Case("config show -h", 0, "[SETTING...]"),
    Case("--version", 0, "\npatterns  "),
    # Wrong names.
    Case("sce", 2, "", "No such command 'sce'. Did you mean 'sec'?"),
    Case("sec fats", 2, "", "No such command 'fats'. Did you mean 'fast'?"),
    Case("sec fast --fial-on high", 2, "", "No such option: --fial-on"),
    Case("sec explain unsafe_apy", 2, "", 'did you mean "unsafe_api"'),
    Case("sec fast tree --rules unsafe_apy", 2, "", 'did you mean "unsafe_api"'),
    Case("sec fast tree --rules atoi_family --rules unsafe_apy", 2, "", 'did you mean "unsafe_api"'),
    Case("sec fast tree --rules atoi_family,unsafe_apy", 2, "", 'did you mean "unsafe_api"'),
    # Wrong values.
    Case(
        "sec fast --fail-on hgih", 2, "", '--fail-on: "hgih" is not one of low, medium, high (did you mean "high"?)\n'
    ),
    Case(
        "sec agent tree --fail-on lwo",
        2,
        "",
        '--fail-on: "lwo" is not one of low, medium, high (did you mean "low"?)\n',
    ),
    Case(
        "sec fast --format jsn",
        2,
        "",
        'codequality, csv (did you mean "json"?)\n',
    ),
    Case("runs report last --format htlm", 2, "", '(did you mean "html"?)\n'),
    Case("runs list --format jso", 2, "", '--format: "jso" is not one of table, json (did you mean "json"?)\n'),
    Case("sec fast --lang fr", 2, "", 'jarvis: --lang: "fr" is not one of en, zh\n'),
    Case("sec explain unsafe_api --lang de", 2, "", 'jarvis: --lang: "de" is not one of en, zh\n'),
    Case("sec fast -j -1", 2, "", 'jarvis: --processes: "-1" is not a whole number of at least 0\n'),
    Case("sec fast -j many", 2, "", 'jarvis: --processes: "many" is not a whole number of at least 0\n'),
    Case("sec fast --min-confidence 3", 2, "", 'jarvis: --min-confidence: "3" is not a number from 0 to 1\n'),
    Case("sec agent --votes 10", 2, "", 'jarvis: --votes: "10" is not a whole number from 1 to 9\n'),
    Case("runs list -n 0", 2, "", 'jarvis: --limit: "0" is not a whole number from 1 to 10,000\n'),
    Case("sandbox run . --tier C -- true", 2, "", '--tier: "C" is not one of A, B\n'),
    Case("sec rules --category crypt", 2, "", '(did you mean "crypto"?)\n'),
    Case("sec rules --language ruts", 2, "", '--language: "ruts" is not one of c/cpp, rust (did you mean "rust"?)\n'),
    Case(
        "sec fast --json --format sarif",
        2,
        "",
        "--json is the same as --format json, and cannot be combined with --format sarif\n",
    ),
    Case("config show scan.languges", 2, "", '(did you mean "scan.languages"?)'),
    # Paths.
    Case("sec fast nowhere", 2, "", "jarvis: nowhere: no such file or directory\n"),
    Case("sec fast tree nowhere.c", 2, "", "jarvis: nowhere.c: no such file or directory\n"),
    Case("sec fast empty", 2, "", "jarvis: empty: no C, C++ or Rust files to scan"),
    Case("sec fast -p empty", 2, "", "jarvis: empty: no C, C++ or Rust files to scan"),
    Case("sec fast tree --root empty", 2, "", "--root empty: tree is not below it"),
    Case("sec fast tree https://host/repo.git", 2, "", "a repository URL must be the only PATH"),
    Case("sec fast tree -o gone/r.md", 2, "", "-o gone/r.md: its directory does not exist"),
    Case("sec fast tree --detach", 2, "", "--detach needs a cluster"),
    # Reports of the run that there is.
    Case("runs report last", 0, "tree/a.c:1:28: high: "),
    Case("runs report last --format text", 0, "[unsafe_api]\n    void f(char *a, char *b) { strcpy(a, optarg); }\n"),
    Case("runs report last --format markdown", 0, "# Security report"),
    Case("runs report last --json", 0, '"issues": ['),
    Case("runs report last --format json", 0, '"issues": ['),
    Case("runs list", 0, "sec.fast"),
    Case("runs list --json", 0, '"kind": "sec.fast"'),
    Case("runs list --format json", 0, '"kind": "sec.fast"'),
    Case("runs show last", 0, "scan stage"),
    Case("runs show last --format json", 0, '"kind": "sec.fast"'),
    Case("runs wait last -q", 0),
    Case("runs show nosuch", 2, "", 'no run "nosuch" in'),
    Case("runs diff last", 2, "", "Missing argument"),
    Case("config show scan --json", 0, '"setting": "scan.languages"'),
    Case("config show --format table", 0, "report.min_confidence"),
    Case("sec rules --category crypto --json", 0, '"category": "crypto"'),
    Case("sec rules --only crypto --format json", 0, '"category": "crypto"'),
    Case("sec explain unsafe_api", 0, "unsafe_api"),
    # Without children.
    Case("sec fast tree -q -j 0", 0, "[unsafe_api]"),
)


EMPTY_STORE = (
    Case("runs report last", 2, "", "jarvis: there are no runs yet; start one with: jarvis sec fast\n"),
    Case("runs show last", 2, "", "jarvis: there are no runs yet; start one with: jarvis sec fast\n"),
    Case("runs list", 0, "", "no runs yet; start one with: jarvis sec fast"),
)


@pytest.mark.slow
def test_each_command_line_does_what_the_table_says(jarvis):
    jarvis.tree("tree", {"a.c": COPY, "b.c": SYSTEM})
    (jarvis.place / "empty").mkdir()
    wrong = _wrong(jarvis, EMPTY_STORE)
    assert jarvis("sec", "fast", "tree", "-o", "report.md").code == 0
    wrong += _wrong(jarvis, CASES)
    assert wrong == []
    assert len(CASES) >= 40


def _wrong(jarvis, cases):
    """Return what does not hold."""
    wrong = []
    for case in cases:
        ended = jarvis(*case.line.split())
        problems = [
            f"exit {ended.code}" if ended.code != case.code else "",
            _mismatch("stdout", ended.out, case.out),
            _mismatch("stderr", ended.err, case.err),
            "more than one line" if case.code == 2 and case.err != "Commands:" and ended.err.count("\n") != 1 else "",
        ]
        wrong += [f"jarvis {case.line}: {problem}" for problem in problems if problem]
    return wrong


def _mismatch(stream, text, part):
    if part is None or (part in text if part else not text):
        return ""
    return f"{stream} {text[:300]!r} should have {part!r}"
