"""`jarvis runs diff A B`: what two real scans differ in, and what the second has not looked at."""

import json

import pytest

from jarvis_workers.sec.report.diff_formats import DIFFERENT_SCOPES
from tests.cli.commands import COPY, SYSTEM

NO_COMMON = "tree, without a common file"


@pytest.fixture
def tree(jarvis):
    return jarvis.tree("tree", {"a.c": COPY, "lib/b.c": SYSTEM})


def scan(jarvis, tree, *options):
    return json.loads(jarvis("sec", "fast", "-p", tree, "--format", "json", *options).out)["run"]["id"]


def diff(jarvis, *args):
    ended = jarvis("runs", "diff", *args, "--format", "json")
    assert ended.code == 0
    return json.loads(ended.out)


@pytest.mark.slow
def test_an_edit_is_told_as_what_is_new_and_what_is_fixed(jarvis, tree):
    first = scan(jarvis, tree)
    (tree / "a.c").write_text("// moved\n" + SYSTEM)
    second = scan(jarvis, tree)
    found = diff(jarvis, first, second)
    back = diff(jarvis, second, first)

    assert {one["file"] for one in found["new"]} == {one["file"] for one in found["fixed"]} == {"a.c"}
    assert "strcpy" in found["fixed"][0]["evidence"]
    assert found["summary"]["unchanged"] > 0
    assert [one["fingerprint"] for one in back["new"]] == [one["fingerprint"] for one in found["fixed"]]
    assert diff(jarvis, first, first)["summary"] == {
        "new": 0,
        "changed": 0,
        "fixed": 0,
        "not_checked": 0,
        "unchanged": found["summary"]["unchanged"] + found["summary"]["fixed"],
    }


@pytest.mark.slow
def test_a_file_that_is_gone_is_fixed_and_one_that_could_not_be_read_is_not_checked(jarvis, tree):
    first = scan(jarvis, tree)
    (tree / "a.c").unlink()
    deleted = diff(jarvis, first, scan(jarvis, tree))
    (tree / "a.c").symlink_to("nowhere")
    broken = diff(jarvis, first, scan(jarvis, tree))

    assert (deleted["summary"]["fixed"] > 0, deleted["summary"]["not_checked"]) == (True, 0)
    assert (broken["summary"]["fixed"], {one["reason"] for one in broken["not_checked"]}) == (
        0,
        {"broken symbolic link"},
    )
    assert "did not fully check 1 of its files" in broken["notes"][0]


@pytest.mark.slow
def test_what_the_second_scan_was_not_to_look_at_is_not_fixed(jarvis, tree):
    first = scan(jarvis, tree)

    def reasons(*options):
        found = diff(jarvis, first, scan(jarvis, tree, *options))
        assert found["summary"]["fixed"] == 0
        return {one["reason"] for one in found["not_checked"] if one["file"] == "lib/b.c"}

    assert reasons("--exclude", "lib/b.c") == {"may be omitted: excluded by --exclude"}
    assert reasons("--exclude-rules", "command_execution,scanf_no_width") == {"its rule is disabled"}


def test_a_run_that_is_not_over_has_fixed_nothing(jarvis, tree):
    found = diff(jarvis, scan(jarvis, tree), jarvis.submit(tree, paused=True))

    assert {one["reason"] for one in found["not_checked"]} == {"the run is paused"}
    assert found["notes"][0] == "the later run is paused: it did not check everything"


@pytest.mark.slow
def test_a_comment_that_suppresses_changes_what_is_said_of_a_finding(jarvis, tree):
    first = scan(jarvis, tree)
    (tree / "a.c").write_text(f"// jarvis-ignore: sized\n{COPY}")

    changed = diff(jarvis, first, scan(jarvis, tree))["changed"]
    assert {(one["file"], one["was"], one["is"]) for one in changed} == {("a.c", "heuristic", "suppressed")}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["json", "sarif"])
def test_a_comment_behind_the_code_changes_what_is_said_of_a_finding_also_in_report_files(jarvis, tree, suffix):
    jarvis("sec", "fast", "-p", tree, "-o", f"old.{suffix}")
    (tree / "a.c").write_text(f"{COPY[:-1]} // jarvis-ignore[unsafe_api]: sized\n")
    jarvis("sec", "fast", "-p", tree, "-o", f"new.{suffix}")

    found = diff(jarvis, f"old.{suffix}", f"new.{suffix}")
    assert [(one["file"], one["was"], one["is"]) for one in found["changed"]] == [("a.c", "heuristic", "suppressed")]
    assert (found["new"], found["fixed"]) == ([], [])
    assert "(open -> suppressed)" in jarvis("runs", "diff", f"old.{suffix}", f"new.{suffix}").out


@pytest.mark.slow
def test_the_exit_code_says_whether_something_severe_is_new_or_not_known(jarvis, tree):
    first = scan(jarvis, tree)
    same = scan(jarvis, tree)
    (tree / "c.c").write_text("void f(char *d) { gets(d); }\n")
    worse = scan(jarvis, tree)
    (tree / "c.c").unlink()
    (tree / "c.c").symlink_to("nowhere")
    partial = scan(jarvis, tree)

    assert jarvis("runs", "diff", first, worse).code == 0
    failed = jarvis("runs", "diff", first, worse, "--fail-on", "high")
    says = "exit 1: 1 new finding at or above high (--fail-on high); first: c.c:1 unsafe_api"
    assert (failed.code, failed.line) == (1, f"jarvis: {says}")
    assert jarvis("runs", "diff", first, same, "--fail-on", "low").code == 0
    assert jarvis("runs", "diff", first, partial).code == 0
    unsure = jarvis("runs", "diff", first, partial, "--fail-on", "low")
    says = "exit 3: the later run is incomplete: findings may be missing"
    assert (unsure.code, unsure.line) == (3, f"jarvis: {says}")


@pytest.mark.slow
def test_it_is_written_to_a_file_or_the_terminal_and_what_makes_no_sense_is_refused(jarvis, tree):
    run = scan(jarvis, tree)
    shown = jarvis("runs", "diff", run, "last")
    jarvis("runs", "diff", run, "last", "--format", "markdown", "-o", "d.md")

    assert shown.out.splitlines()[1].startswith("0 new, 0 with a different verdict, 0 fixed, 0 not checked, ")
    assert (jarvis.place / "d.md").read_text().startswith("# Two scans compared\n")
    for options, says in (
        (("--format", "xml"), '--format: "xml" is not one of text, json, markdown, html'),
        (("--fail-on", "dire"), '--fail-on: "dire" is not one of low, medium, high'),
    ):
        ended = jarvis("runs", "diff", run, run, *options)
        assert (ended.code, ended.line) == (2, f"jarvis: {says}")


def test_an_output_is_checked_before_anything_is_compared(jarvis):
    for file, says in (
        ("gone/d.md", "-o gone/d.md: its directory does not exist; name a file, or - for stdout"),
        (
            "d.pdf",
            "-o d.pdf: unknown suffix; use one of .json .md .markdown .txt .html .htm, or give",
        ),
        ("d.sarif", "-o d.sarif: unknown suffix"),
    ):
        ended = jarvis("runs", "diff", "old.json", "new.json", "-o", file)
        assert (ended.code, says in ended.line) == (2, True), ended.line


@pytest.mark.slow
def test_json_and_format_json_are_the_same(jarvis, tree):
    run = scan(jarvis, tree)

    assert json.loads(jarvis("runs", "diff", run, run, "--json").out) == diff(jarvis, run, run)
    assert (
        "cannot be combined with --format html" in jarvis("runs", "diff", run, run, "--json", "--format", "html").line
    )


@pytest.mark.slow
def test_a_run_that_lists_only_what_was_new_is_not_compared(jarvis, tree):
    jarvis("sec", "fast", "-p", tree, "-o", "r.json")
    second = scan(jarvis, tree, "--baseline", "r.json")
    ended = jarvis("runs", "diff", second, second)

    assert ended.code == 2
    assert ended.line.endswith("lists only findings new to its own baseline; compare runs without --baseline")


@pytest.mark.slow
@pytest.mark.parametrize("fail_on", ["low", None])
def test_scans_of_trees_without_a_common_file_are_told_apart(jarvis, tree, fail_on):
    other = jarvis.tree("other", {"x.c": COPY, "y.c": "int a;\n"})
    first, second = scan(jarvis, tree), scan(jarvis, other)
    options = ("--fail-on", fail_on) if fail_on else ()

    ended = jarvis("runs", "diff", first, second, *options)
    back = jarvis("runs", "diff", second, first, "--format", "json")

    says = f"{DIFFERENT_SCOPES} {NO_COMMON}: {tree} -> {other}"
    assert ended.out.splitlines()[0] == says and ended.code == (1 if fail_on else 0)
    assert json.loads(back.out)["different_scopes"] == [f"{NO_COMMON}: {other} -> {tree}"]


def test_a_tree_without_findings_beside_another_tree_is_not_a_tree_in_which_all_is_fixed(jarvis, tree):
    other = jarvis.tree("other", {"y.c": "int a;\n"})

    ended = jarvis("runs", "diff", scan(jarvis, tree), scan(jarvis, other), "--fail-on", "high")

    assert ended.code == 3 and "the scans have different scopes: tree, without a common file" in ended.err, ended


@pytest.mark.slow
def test_two_versions_in_two_directories_are_compared_with_a_note(jarvis, tree):
    newer = jarvis.tree("newer", {"a.c": "int a;\n", "lib/b.c": SYSTEM})
    found = diff(jarvis, scan(jarvis, tree), scan(jarvis, newer))

    assert (found["summary"]["new"], found["summary"]["fixed"] > 0) == (0, True)
    assert found["notes"] == [f"the scans are of different directories: {tree} -> {newer}"]
    assert found["different_scopes"] == []


def test_help_shows_how(jarvis):
    shown = jarvis("runs", "diff", "--help").out

    assert "jarvis runs diff 1f3a last --fail-on high" in shown
    assert "diff" in jarvis("runs", "--help").out


@pytest.fixture
def files(jarvis, tree):
    """Reports of two scans as JSON and SARIF, and the later run: one finding is fixed and others are new."""
    jarvis("sec", "fast", "-p", tree, "-o", "old.json")
    jarvis("runs", "report", "last", "-o", "old.sarif")
    (tree / "a.c").write_text("// moved\n" + SYSTEM)
    jarvis("sec", "fast", "-p", tree, "-o", "new.json")
    jarvis("runs", "report", "last", "-o", "new.sarif")


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("before", "after"),
    [("old.json", "new.json"), ("old.sarif", "new.sarif"), ("old.json", "new.sarif"), ("old.sarif", "last")],
)
def test_report_files_are_compared_as_runs_are(jarvis, files, before, after):
    found = diff(jarvis, before, after)

    assert {(one["file"], one["pattern"]) for one in found["fixed"]} == {("a.c", "unsafe_api")}
    assert {one["file"] for one in found["new"]} == {"a.c"}
    assert found["summary"]["unchanged"] == 2
    assert found["before"]["file"] == before
    assert {one["severity"] for one in found["fixed"]} <= {"high", "medium"}
    assert [one["cwe"] for one in found["fixed"]] == [120]
    assert jarvis("runs", "diff", before, after, "--fail-on", "low").code == 1
    assert jarvis("runs", "diff", after, after, "--fail-on", "low").code == 0


@pytest.mark.slow
def test_the_difference_is_a_page_that_loads_nothing(jarvis, files):
    assert jarvis("runs", "diff", "old.json", "new.sarif", "-o", "d.html").code == 0

    page = (jarvis.place / "d.html").read_text()
    assert "<title>New, changed and fixed findings</title>" in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert '<span class="place">a.c:1</span>' in page
    assert "new.sarif is SARIF, which does not record excluded files" in page
    assert jarvis("runs", "diff", "old.json", "new.sarif", "--format", "html").out == page


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "x.json: cannot be read: No such file or directory"),
        ("{", "x.json: cannot be read as JSON"),
        ("[]", "x.json is not a JSON or SARIF report of jarvis"),
        ("{}", "x.json is not a JSON or SARIF report of jarvis, or damaged"),
        ('{"issues": [7], "summary": {}, "run": {}}', "x.json is not a JSON or SARIF report of jarvis, or damaged"),
        ('{"issues": [], "summary": {}, "run": {"baseline": "main"}}', "x.json lists only findings new"),
        ('{"runs": [{"results": []}]}', "x.json is not a JSON or SARIF report of jarvis, or damaged"),
        ('{"runs": [], "\\u001b[2J": 1}', "x.json is not a JSON or SARIF report of jarvis, or damaged"),
    ],
)
def test_a_missing_or_damaged_report_file_gets_one_line(jarvis, content, says):
    if content is not None:
        (jarvis.place / "x.json").write_text(content)

    ended = jarvis("runs", "diff", "x.json", "x.json")

    assert ended.code == 2
    assert says in ended.line


@pytest.mark.slow
def test_a_damaged_finding_of_a_report_is_named(jarvis, files):
    report = json.loads((jarvis.place / "old.json").read_text())
    report["issues"][0]["severity"] = "grave"
    (jarvis.place / "x.json").write_text(json.dumps(report))

    assert "severity: Input should be 'high', 'medium' or 'low'" in jarvis("runs", "diff", "x.json", "new.json").line
