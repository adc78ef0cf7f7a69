"""Living with findings: suppressed in the code, known from before, or in files that have not changed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import COPY, SYSTEM

IGNORED = "void g(char *a, char *b) { strcpy(a, b); } // jarvis-ignore[unsafe_api]: measured\n"
WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}


def git(place: Path, *command: str) -> None:
    subprocess.run(["git", "-C", place, *command], env=os.environ | WHO, check=True, capture_output=True)


@pytest.fixture
def repository(jarvis):
    """A repository with one commit, tagged v1: two findings that are not suppressed, and one that is."""
    place = jarvis.tree("repo", {"a.c": COPY, "sub/b.c": COPY + IGNORED, ".gitignore": "made.c\n", "made.c": SYSTEM})
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "1"], ["tag", "v1"]):
        git(place, *command)
    return place


def report_of(jarvis, *options):
    ended = jarvis("sec", "fast", "--format", "json", *options)
    return json.loads(ended.out)


def places(report):
    return [(issue["file"], issue["line"]) for issue in report["issues"]]


def test_what_a_comment_suppresses_neither_counts_nor_fails(jarvis):
    tree = jarvis.tree("tree", {"a.c": IGNORED, "b.c": "int b; // jarvis-ignore[unsafe_api]\n"})

    ended = jarvis("sec", "fast", "-p", tree, "--format", "json", "--fail-on", "low")

    summary = json.loads(ended.out)["summary"]
    assert ended.code == 0
    assert ended.line.endswith("done: 0 findings in 2 files; suppressed: 1")
    assert (summary["total"], summary["suppressed"]) == (0, 1)
    unused = {"file": "b.c", "line": 1, "text": "jarvis-ignore[unsafe_api]"}
    assert summary["unused_suppressions"] == [unused | {"reason": "no rule fires here"}]
    assert summary["suppressions_without_reason"] == [unused]
    assert (tree / ".jarvis" / "sec" / "heuristic_issues.jsonl").read_text() == ""


def test_what_is_suppressed_is_in_sarif_with_its_justification(jarvis):
    tree = jarvis.tree("tree", {"a.c": IGNORED})

    (result,) = json.loads(jarvis("sec", "fast", "-p", tree, "--format", "sarif").out)["runs"][0]["results"]

    assert result["suppressions"] == [{"kind": "inSource", "justification": "measured"}]


@pytest.mark.sample(1)
@pytest.mark.parametrize("baseline", ["before.json", "before.sarif", "v1", "HEAD"])
def test_only_what_is_new_is_listed_and_counts(jarvis, repository, baseline):
    for form in ("json", "sarif"):
        assert jarvis("sec", "fast", "-q", "-p", repository, "-o", f"before.{form}").code == 0
    (repository / "a.c").write_text("int moved;\n" + COPY + SYSTEM.replace("sscanf", "f"))

    ended = jarvis("sec", "fast", "-p", repository, "--baseline", baseline, "--format", "json", "--fail-on", "low")

    report = json.loads(ended.out)
    assert ended.code == 1
    assert places(report) == [("a.c", 3)]
    said = report["summary"]["baseline"]
    assert (said["known"], said["gone"], said["what"].partition(" ")[0]) == (2, 0, baseline)
    says = " done: 1 new finding in 2 files; known: 2; suppressed: 1; excluded by .gitignore:  1 file; exit 1: "
    assert says in ended.line


@pytest.mark.sample(1)
@pytest.mark.parametrize("baseline", ["before.json", "v1"])
@pytest.mark.slow
def test_without_anything_new_nothing_fails_and_the_report_stays_the_same_later(jarvis, repository, baseline):
    jarvis("sec", "fast", "-q", "-p", repository, "-o", "before.json")
    (repository / "sub" / "b.c").unlink()

    ended = jarvis("sec", "fast", "-p", repository, "--baseline", baseline, "--fail-on", "low", "--format", "json")
    Path("before.json").unlink()

    assert ended.code == 0
    assert json.loads(ended.out)["summary"]["baseline"].items() >= {"known": 1, "gone": 1}.items()
    assert jarvis("runs", "report", "last", "--format", "json").out == ended.out
    assert (repository / ".jarvis" / "sec" / "heuristic_issues.jsonl").read_text() == ""


@pytest.mark.slow
def test_ignore_rules_and_suppressions_hold_on_both_sides(jarvis, repository):
    (repository / "sub" / "b.c").write_text(COPY + IGNORED.partition(" //")[0] + "\n")
    (repository / ".gitignore").write_text("")

    assert places(report_of(jarvis, "-p", repository, "--baseline", "v1")) == [
        ("made.c", 1),
        ("made.c", 1),
        ("sub/b.c", 2),
    ]


@pytest.mark.slow
@pytest.mark.timing
def test_a_file_that_was_moved_brings_nothing_new(jarvis, repository):
    git(repository, "mv", "a.c", "moved.c")
    git(repository, "commit", "-qm", "moved")

    assert report_of(jarvis, "-p", repository, "--baseline", "v1")["issues"] == []


@pytest.mark.slow
def test_the_baseline_of_a_directory_that_was_not_there_is_empty(jarvis, repository):
    jarvis.tree("repo/new", {"c.c": COPY})

    assert places(report_of(jarvis, "-p", repository / "new", "--baseline", "v1")) == [("c.c", 1)]


@pytest.mark.timing
def test_only_files_that_have_changed_are_scanned_and_the_others_counted(jarvis, repository):
    (repository / "committed.c").write_text(COPY)
    git(repository, "add", "committed.c")
    git(repository, "commit", "-qm", "2")
    (repository / "staged.c").write_text(COPY)
    git(repository, "add", "staged.c")
    (repository / "new.c").write_text(COPY)
    (repository / "a.c").write_text(COPY * 2)

    report = report_of(jarvis, "-p", repository, "--since", "v1")

    assert sorted({file for file, _ in places(report)}) == ["a.c", "committed.c", "new.c", "staged.c"]
    assert report["summary"]["left_out"] == {"ignored by .gitignore": 1, "not changed since v1": 1}


@pytest.fixture
def hiding(jarvis):
    """A repository with two commits whose ignore files match a file that it tracks."""
    place = jarvis.tree("hiding", {"a.c": "int a;\n", "evil.c": SYSTEM, ".gitignore": "evil.c\nmade.c\n"})
    (place / ".jarvisignore").write_text("evil.c\n")
    for command in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "1"], ["tag", "v1"]):
        git(place, *command)
    return place


def test_an_address_cannot_hide_tracked_files_by_its_ignore_files(jarvis, hiding):
    report = report_of(jarvis, "-p", f"file://{hiding}")

    assert {file for file, _ in places(report)} == {"evil.c"}
    assert report["summary"]["left_out"] == {}


@pytest.mark.slow
def test_the_jarvisignore_of_an_address_is_heeded_when_a_setting_says_so(jarvis, hiding, monkeypatch):
    monkeypatch.setenv("JARVIS_SCAN__JARVISIGNORE_OF_ADDRESSES", "yes")

    assert places(report_of(jarvis, "-p", f"file://{hiding}")) == []


def test_a_directory_cannot_hide_tracked_files_by_gitignore(jarvis, hiding):
    (hiding / ".jarvisignore").unlink()

    report = report_of(jarvis, "-p", hiding)

    assert {file for file, _ in places(report)} == {"evil.c"}


@pytest.mark.timing
@pytest.mark.slow
def test_a_baseline_revision_has_the_tracked_files_that_gitignore_matches(jarvis, hiding):
    (hiding / ".jarvisignore").unlink()
    git(hiding, "commit", "-qam", "2")

    assert report_of(jarvis, "-p", hiding, "--baseline", "HEAD")["summary"]["baseline"]["known"] > 0


@pytest.mark.slow
def test_what_gitignore_leaves_out_is_said_at_the_end_and_at_the_head(jarvis):
    tree = jarvis.tree("tree", {"a.c": "int a;\n", "b.c": COPY, "gen/c.c": COPY, ".gitignore": "b.c\ngen/\n"})

    ended = jarvis("sec", "fast", "-p", tree, "--format", "markdown")
    page = jarvis("sec", "fast", "-p", tree, "--format", "html").out

    assert "; excluded by .gitignore:  1 file, 1 tree" in ended.line
    assert "Excluded by .gitignore: 1 file, 1 tree." in ended.out.partition("\n## ")[0]
    assert "Excluded by .gitignore: 1 file, 1 tree." in page


def test_when_nothing_has_changed_all_is_well(jarvis, repository):
    ended = jarvis("sec", "fast", "-p", repository, "--since", "HEAD", "--fail-on", "low")

    assert ended.code == 0
    assert ended.out.endswith("Nothing to check: no file has changed since HEAD.\n")


@pytest.mark.slow
def test_changed_files_and_a_baseline_go_together(jarvis, repository):
    (repository / "a.c").write_text(COPY * 2)

    report = report_of(jarvis, "-p", repository, "--since", "v1", "--baseline", "v1")

    assert places(report) == [("a.c", 2)]
    assert "gone" not in report["summary"]["baseline"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--since", "nosuch"], '--since: "nosuch" is not a revision of'),
        (["--since", "v" * 9_999], f'--since: "{"v" * 9_999}" is not a revision of'),
        (["--since=-x"], '--since: "-x" is not a revision'),
        (
            ["--baseline", "nosuch"],
            '--baseline nosuch is not a report file, and cannot be used as a revision: "nosuch" is not',
        ),
        (["--baseline=-x"], '"-x" is not a revision'),
        (["--baseline", "gone.json"], "--baseline gone.json: cannot be read: No such file or directory"),
        (["--baseline", "repo/a.c"], "--baseline repo/a.c: cannot be read as JSON"),
        (["--min-confidence", "1.1"], '--min-confidence: "1.1" is not a number from 0 to 1'),
        (["--min-confidence", "nan"], "min_confidence"),
    ],
)
def test_what_cannot_be_compared_is_one_line(jarvis, repository, options, says):
    ended = jarvis("sec", "fast", "-p", repository, *options)

    assert ended.code == 2
    assert says in ended.line


@pytest.mark.timing
def test_without_a_repository_there_is_no_revision(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})

    assert jarvis("sec", "fast", "-p", tree, "--since", "HEAD").line.endswith(f"{tree} is not in a git repository")
    assert jarvis("sec", "fast", "-p", tree, "--baseline", "HEAD").code == 2
