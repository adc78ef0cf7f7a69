"""`jarvis sec`: what a scan reports, where it goes, and what the command ends with."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_cli.kit.progress import MEGABYTE, Lines, describe, rate_of
from jarvis_workers.store.values import Run, StageProgress
from tests.cli.commands import COPY, SYSTEM, UNSAFE

ISSUE = {
    "id",
    "gid",
    "language",
    "category",
    "pattern",
    "file",
    "line",
    "evidence",
    "description",
    "suggestion",
    "confidence",
    "severity",
    "score",
    "status",
}
SUMMARY = {
    "total",
    "by_language",
    "by_category",
    "top_risk_files",
    "scanned_files",
    "not_checked",
    "score_sum",
}
MIXED = {
    "a.c": COPY + SYSTEM,
    "again/a.c": COPY + SYSTEM,
    "src/lib.rs": UNSAFE,
    "src/b.cpp": SYSTEM,
    "build/left.c": COPY,
    "notes.txt": "no source",
}


@pytest.fixture
def jarvis(jarvis, monkeypatch):
    """Scan small trees in a fork, as users do: with 0 processes every scan is an ordinary one."""
    monkeypatch.setenv("JARVIS_PROCESSES", "1")
    return jarvis


@pytest.fixture
def mixed(jarvis):
    return jarvis.tree("mixed", MIXED)


def issues(text):
    return json.loads(text)["issues"]


def without_run(form, text):
    if form == "markdown":
        return text[: text.index("\n## Run\n")]
    return {name: part for name, part in json.loads(text).items() if name != "run"}


def test_a_report_has_what_the_contract_lists(jarvis, mixed):
    ended = jarvis("sec", "fast", "-p", mixed, "--format", "json")

    report = json.loads(ended.out)
    assert ended.code == 0
    assert set(report) == {"run", "summary", "issues"}
    assert set(report["summary"]) >= SUMMARY
    assert all(set(issue) >= ISSUE for issue in report["issues"])
    assert {issue["language"] for issue in report["issues"]} == {"c/cpp", "rust"}
    assert [issue["gid"] for issue in report["issues"]] == list(range(1, len(report["issues"]) + 1))
    assert report["summary"]["scanned_files"] == 4
    assert report["run"]["scanned_root"] == str(mixed)


def test_identical_files_are_reported_at_every_path(jarvis, mixed):
    found = issues(jarvis("sec", "fast", "-p", mixed, "--format", "json").out)

    told = {path: [(i["line"], i["pattern"]) for i in found if i["file"] == path] for path in ("a.c", "again/a.c")}
    assert told["a.c"]
    assert told["a.c"] == told["again/a.c"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["json", "markdown"])
def test_two_runs_differ_in_nothing_but_their_run_part(jarvis, mixed, store_url, form, monkeypatch):
    monkeypatch.setenv("JARVIS_STORE_URL", store_url)

    first = jarvis("sec", "fast", "-p", mixed, "--format", form, "-j", "1")
    second = jarvis("sec", "fast", "-p", mixed, "--format", form, "-j", "4")

    assert (first.code, second.code) == (0, 0)
    assert without_run(form, first.out) == without_run(form, second.out)
    assert first.out != second.out


@pytest.mark.slow
def test_the_files_of_a_run_are_in_the_scanned_tree_and_no_scan_sees_them(jarvis, mixed):
    found = issues(jarvis("sec", "fast", "-p", mixed, "--format", "json").out)

    folder = mixed / ".jarvis" / "sec"
    kept = [json.loads(line) for line in (folder / "heuristic_issues.jsonl").read_text().splitlines()]
    events = [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]
    assert kept == found
    assert {"event": "pre_scan", "status": "done"}.items() <= {k: v for e in events[:2] for k, v in e.items()}.items()
    assert events[-1]["status"] == "done"
    assert (mixed / ".jarvis" / ".gitignore").read_text().startswith("*\n")
    assert sorted(path.name for path in folder.iterdir()) == ["heuristic_issues.jsonl", "progress.jsonl"]
    again = jarvis("sec", "fast", "-p", mixed, "--no-default-excludes", "--format", "json")
    assert json.loads(again.out)["summary"]["left_out"] == {}


@pytest.mark.slow
def test_what_is_left_out_by_default_is_named_and_can_be_had(jarvis, mixed):
    usual = json.loads(jarvis("sec", "fast", "-p", mixed, "--format", "json").out)["summary"]
    all_of_it = json.loads(jarvis("sec", "fast", "-p", mixed, "--no-default-excludes", "--format", "json").out)

    assert usual["excluded"] == [{"path": "build", "reason": "excluded directory"}]
    assert usual["left_out"] == {}
    assert "build/left.c" in {issue["file"] for issue in all_of_it["issues"]}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("options", "files"),
    [
        (["--languages", "rust"], {"src/lib.rs"}),
        (["--languages", "c/cpp"], {"a.c", "again/a.c", "src/b.cpp"}),
        (["--include", "src"], {"src/lib.rs", "src/b.cpp"}),
        (["--include", "*.c", "--exclude", "again"], {"a.c"}),
        (["--exclude", "*.c", "--exclude", "*.rs"], {"src/b.cpp"}),
    ],
)
def test_a_scan_can_be_narrowed(jarvis, mixed, options, files):
    ended = jarvis("sec", "fast", "-p", mixed, "--format", "json", *options)

    assert {issue["file"] for issue in issues(ended.out)} == files


def test_ignore_files_are_heeded(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "made/b.c": COPY, "c.c": COPY, ".gitignore": "made/\n"})
    (tree / ".jarvisignore").write_text("c.c\n")

    found = issues(jarvis("sec", "fast", "-p", tree, "--format", "json").out)

    assert {issue["file"] for issue in found} == {"a.c"}


FREED = "int f(void) { char *p = malloc(3); if (p == NULL) return 1; free(p); return *p; }\n"


@pytest.mark.slow
def test_depth_rules_runs_no_data_flow_analysis(jarvis):
    tree = jarvis.tree("tree", {"a.c": FREED})
    scan = ["sec", "fast", "-p", tree, "--format", "json"]
    deep, shallow = (json.loads(jarvis(*scan, *more).out) for more in ([], ["--depth", "rules"]))

    assert "flow_use_after_free" in {issue["pattern"] for issue in deep["issues"]}
    assert {issue["pattern"] for issue in shallow["issues"]} == {"uaf_suspect"}
    assert shallow["run"]["rules"]["depth"] == "rules"
    assert [shallow["run"]["stages"][name]["jobs"] for name in ("scan", "summarize", "flow")] == [1, 0, 0]
    assert json.loads(jarvis(*scan).out)["issues"] == deep["issues"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "markdown", "html", "sarif"])
def test_report_says_that_the_data_flow_rules_did_not_run(jarvis, form):
    tree = jarvis.tree("tree", {"a.c": COPY})

    text = jarvis("sec", "fast", "-p", tree, "--depth", "rules", "--format", form, "-o", "-").out

    assert "data-flow rules did not run" in text


def test_the_least_confidence_is_the_users(jarvis, mixed):
    report = json.loads(jarvis("sec", "fast", "-p", mixed, "--format", "json", "--min-confidence", "1").out)

    assert report["issues"] == []
    assert report["summary"]["below_min_confidence"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("level", "code"), [("high", 1), ("low", 1), (None, 0)])
def test_findings_alone_do_not_change_the_exit_code(jarvis, mixed, level, code):
    ended = jarvis("sec", "fast", "-p", mixed, *(["--fail-on", level] if level else []))

    assert ended.code == code


def test_a_level_that_nothing_reaches_is_no_failure(jarvis):
    tree = jarvis.tree("tree", {"a.c": "int f(char *s) { return atoi(s); }\n"})
    worst = {issue["severity"] for issue in issues(jarvis("sec", "fast", "-p", tree, "--format", "json").out)}

    assert worst <= {"medium", "low"}
    assert jarvis("sec", "fast", "-p", tree, "--fail-on", "high").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(("options", "code"), [([], 3), (["--fail-on", "high"], 1)])
def test_findings_win_over_what_was_not_checked(jarvis, options, code):
    tree = jarvis.tree("tree", {"a.c": COPY})
    (tree / "gone.c").symlink_to("nowhere.c")

    ended = jarvis("sec", "fast", "-p", tree, "--format", "json", *options)

    assert ended.code == code
    assert json.loads(ended.out)["summary"]["not_checked"] == [{"file": "gone.c", "reason": "broken symbolic link"}]
    assert "NOT CHECKED: 1" in ended.err
    assert f"; exit {code}: " in ended.err


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "start"), [("r.json", "{"), ("r.md", "# "), ("r", "mixed/"), ("r.txt", "mixed/"), ("R.JSON", "{")]
)
def test_a_files_suffix_chooses_its_format(jarvis, mixed, name, start):
    ended = jarvis("sec", "fast", "-p", mixed, "-o", name)

    assert (ended.code, ended.out) == (0, "")
    assert Path(name).read_text().startswith(start)
    assert ended.line.endswith(f"; report: {name}")


def test_a_format_asked_for_wins_over_the_suffix(jarvis, mixed):
    assert jarvis("sec", "fast", "-p", mixed, "-o", "r.md", "--format", "json").code == 0
    assert Path("r.md").read_text().startswith("{")


def test_jarvis_sec_writes_report_md_unless_told_otherwise(jarvis, mixed):
    ended = jarvis.sec("fast", "-p", mixed)

    assert (ended.code, ended.out) == (0, "")
    assert Path("report.md").read_text().startswith("# Security report")
    assert jarvis.sec("fast", "-p", mixed, "-o", "-").out.startswith("# Security report")


def test_progress_and_the_end_are_told_on_stderr_alone(jarvis, mixed):
    ended = jarvis("sec", "fast", "-p", mixed, "--format", "json")

    found = json.loads(ended.out)
    assert ended.line == f"jarvis: run {found['run']['id']} done: {found['summary']['total']} findings in 4 files"


def test_off_a_terminal_a_plain_line_comes_every_ten_seconds(capsys):
    now = [0.0]
    lines = Lines(lambda: now[0])
    run = Run("abcd", "sec.fast", "/", b"/", "", "", "")

    def after(seconds, told):
        now[0] = seconds
        told()
        return capsys.readouterr().err

    def scanned(jobs, failed=0):
        scan = StageProgress("scan", "open", 9, jobs, failed, weight=90 * MEGABYTE, weight_done=jobs * 10 * MEGABYTE)
        return lambda: lines.show(run, [scan, StageProgress("report", "open")])

    assert after(9, lambda: lines.packing(7, MEGABYTE)) == ""
    assert after(10, lambda: lines.packing(2000, MEGABYTE)) == "jarvis: reading the tree: 2,000 files, 1.0 MB\n"
    assert after(11, scanned(1)) == ""
    assert after(21, scanned(5)) == "jarvis: run abcd: scan: 5/9 jobs, 50.0/90.0 MB, 4.0 MB/s, 10 s left\n"
    assert after(31, scanned(8, failed=1)) == (
        "jarvis: run abcd: scan: 9/9 jobs, 80.0/90.0 MB, 3.5 MB/s, 3 s left, 1 failed\n"
    )


def test_a_stage_of_a_moment_has_no_rate_and_few_bytes_are_kilobytes():
    stage = StageProgress("scan", "closed", 1, 1, weight=1_800, weight_done=1_800, opened_at=7.0, closed_at=7.02)

    assert describe(stage, rate_of(stage)) == "1/1 jobs, 1.8/1.8 kB"
    assert describe(replace(stage, closed_at=8.0), 1_800) == "1/1 jobs, 1.8/1.8 kB, 1.8 kB/s"


def test_what_conversations_take_is_told_while_they_are_on(capsys):
    now = [0.0]
    lines = Lines(lambda: now[0])
    now[0] = 10.0
    cluster = StageProgress("cluster", "open", 9, 4, tokens=1_234, cost=0.01)
    verify = StageProgress("verify", "open", 5, 1, tokens=56_789)
    lines.show(Run("abcd", "sec.agent", "/", b"/", "", "", ""), [cluster, verify, StageProgress("report", "open")])

    told = "cluster: 4/9 jobs, 1,234 tokens, 0.0100 dollars; verify: 1/5 jobs, 56,789 tokens"
    assert capsys.readouterr().err == f"jarvis: run abcd: {told}\n"


@pytest.mark.slow
@pytest.mark.timing
def test_a_reader_of_the_report_that_goes_away_is_no_error(jarvis, mixed):
    reading, writing = os.pipe()
    os.close(reading)

    process = jarvis.start("sec", "fast", "-p", mixed, "-q", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)

    assert (process.communicate()[1], process.returncode) == (b"", 141)


def test_one_is_not_many(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})

    assert jarvis("sec", "fast", "-p", tree).out.splitlines()[-1] == "1 finding in 1 file: 1 high"


def test_at_a_terminal_the_commands_that_show_more_can_be_pasted(jarvis, monkeypatch):
    jarvis.tree("tree", {"a.c": "int n(char *s) { return atoi(s); }\n", "b.c": COPY})
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    more = jarvis("sec", "fast", "tree").err.splitlines()[-1]

    explain, report = more.removeprefix("jarvis: more: jarvis ").split(", jarvis ")
    assert explain == "sec explain unsafe_api"
    assert jarvis(*explain.split()).code == 0
    assert jarvis(*report.split()).code == 0
    assert Path("report.html").exists()


def test_quiet_says_nothing_when_all_is_well(jarvis, mixed):
    ended = jarvis("sec", "fast", "-p", mixed, "-q", "-o", "r.md")

    assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.slow
def test_quiet_still_says_what_was_not_checked(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    (tree / "gone.c").symlink_to("nowhere.c")

    ended = jarvis("sec", "fast", "-p", tree, "-q", "-o", "r.md")

    assert ended.line == "jarvis: exit 3: NOT CHECKED: 1 file; first: tree/gone.c (broken symbolic link)"


def test_a_report_goes_through_a_link_into_its_file(jarvis, mixed):
    Path("link.md").symlink_to("real.md")

    assert jarvis("sec", "fast", "-p", mixed, "-o", "link.md").code == 0
    assert Path("link.md").is_symlink()
    assert Path("real.md").read_text().startswith("# Security report")


def test_a_report_goes_into_a_pipe_that_stays_one(jarvis, mixed):
    os.mkfifo("pipe.json")
    reader = os.open("pipe.json", os.O_RDONLY | os.O_NONBLOCK)

    assert jarvis("sec", "fast", "-p", mixed, "-o", "pipe.json").code == 0
    assert json.loads(os.read(reader, 1 << 16))["summary"]["scanned_files"] == 4
    assert Path("pipe.json").is_fifo()
    os.close(reader)


def test_a_link_planted_in_the_tree_leads_no_file_out_of_it(jarvis, mixed):
    Path("elsewhere").mkdir()
    (mixed / ".jarvis").symlink_to(Path("elsewhere").absolute())

    ended = jarvis("sec", "fast", "-p", mixed, "-o", "r.md")

    assert ended.code == 0
    assert "symbolic links in the scanned tree are not followed" in ended.err
    assert list(Path("elsewhere").iterdir()) == []


def test_a_link_planted_for_the_gitignore_is_not_followed(jarvis, mixed):
    (mixed / ".jarvis").mkdir()
    (mixed / ".jarvis" / ".gitignore").symlink_to(Path("made.txt").absolute())

    assert jarvis("sec", "fast", "-p", mixed, "-o", "r.md").code == 0
    assert not Path("made.txt").exists()


def test_a_hostile_name_is_obeyed_by_no_terminal_in_no_form(jarvis):
    tree = jarvis.tree("tree", {"a\u009b2J\u202e\U000e0041.c": COPY})

    told = [jarvis("sec", "fast", "-p", tree, "--format", form).out for form in ("json", "markdown")]
    told.append((tree / ".jarvis" / "sec" / "heuristic_issues.jsonl").read_text())

    assert not any(letter in text for text in told for letter in "\u009b\u202e\U000e0041")
    assert issues(told[0])[0]["file"] == "a\u009b2J\u202e\U000e0041.c"
