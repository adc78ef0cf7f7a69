"""Scans from Python: what is returned, what is left behind, and how they are stopped."""

import asyncio
import json
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from jarvis_workers import api
from jarvis_workers.api import CancelToken, Report, ScanOptions, ScanProgress, ScanSession, TraceStep
from jarvis_workers.api.requests import choose_rules
from jarvis_workers.errors import ScanCancelled, UsageError

ACROSS = Path(__file__).parents[1] / "data" / "flow" / "across" / "frees_elsewhere"
COPY = "void f(char *a, char *b) {\n    strcpy(a, b);\n}\n"
SYSTEM = "int g(char *s) { return system(s); }\n"
TWICE = "#include <stdlib.h>\nvoid k(char *p) {\n    free(p);\n    free(p);\n}\n"
FOUND = [
    "a.c:2 unsafe_api",
    "sub/b.c:1 command_execution",
    "twice.c:4 flow_double_free",
]
QUIET = "void q(char *a, char *b) {\n    strcpy(a, b); // jarvis-ignore[unsafe_api]: measured\n}\n"


@pytest.fixture(scope="module")
def session() -> Iterator[ScanSession]:
    """A session whose child is warm for all tests of this file."""
    with ScanSession() as opened:
        yield opened


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {"a.c": COPY, "sub/b.c": SYSTEM, "twice.c": TWICE, "quiet.c": QUIET}.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    return tmp_path / "src"


def places(report: Report) -> list[str]:
    return [f"{finding.file}:{finding.start_line} {finding.rule_id}" for finding in report.findings]


def test_a_string_is_scanned(session: ScanSession) -> None:
    report = session.scan_text(COPY, filename="lib/copy.c")
    (found,) = report.findings

    assert report.complete
    assert (found.rule_id, found.category, found.cwe, found.severity) == ("unsafe_api", "unsafe_api", 120, "medium")
    assert (found.file, found.start_line, found.start_column, found.end_line, found.end_column) == (
        "lib/copy.c",
        2,
        5,
        2,
        18,
    )
    assert (found.function, found.evidence, found.location) == ("f", "strcpy(a, b);", "lib/copy.c:2:5")
    assert str(found) == f"lib/copy.c:2:5: medium: {found.title} [unsafe_api]"
    assert report.run.root == "<text>"


def test_a_finding_of_the_data_flow_analysis_stands_where_the_code_of_its_line_begins(session: ScanSession) -> None:
    text = "#include <stdlib.h>\nvoid f(void)\n{\n    char *p = malloc(4);\n    free(p);\n\tfree(p);\n}\n"
    found = [one for one in session.scan_text(text, language="c").findings if one.trace]

    assert [one.location for one in found] == ["input.c:6:2"]


def test_the_language_of_a_string_decides_on_the_rules(session: ScanSession) -> None:
    text = "fn f(p: *const u8) -> u8 { unsafe { *p } }\n"

    assert {one.language for one in session.scan_text(text, language="rust").findings} == {"rust"}
    assert session.scan_text(text, language="c").findings == ()
    with pytest.raises(UsageError, match='"cobol" is not one of c, c\\+\\+, rust'):
        session.scan_text(text, language="cobol")  # type: ignore[arg-type]


def test_calls_between_sources_are_followed(session: ScanSession) -> None:
    sources = {path.name: path.read_text() for path in ACROSS.iterdir()}
    found = [one for one in session.scan_sources(sources).findings if one.rule_id == "flow_double_free"]

    assert found
    assert {type(step) for step in found[0].trace} == {TraceStep}
    assert len({step.file for step in found[0].trace}) > 1


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a.c": 5}, 'files: "a.c" is a int; give a text or bytes'),
        ({"a.c": None}, 'files: "a.c" is a NoneType; give a text or bytes'),
        ({5: COPY}, "files: a name is a int; give a text"),
        ([COPY], "files is a list; give a mapping of file names to texts or bytes"),
    ],
)
def test_sources_of_another_type_are_refused(session: ScanSession, files: object, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        session.scan_sources(files)  # type: ignore[arg-type]

    assert str(refused.value) == says


@pytest.mark.parametrize(("paths", "root", "says"), [([5], None, "paths is a int"), (["."], 5, "root is a int")])
def test_paths_of_another_type_are_refused(session: ScanSession, paths: list[object], root: object, says: str) -> None:
    with pytest.raises(UsageError, match=f"{says}; give a path"):
        session.scan(*paths, root=root)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["../a.c", "/a.c", "a/../../b.c", ""])
def test_a_filename_that_leaves_the_root_is_refused(session: ScanSession, name: str) -> None:
    with pytest.raises(UsageError, match="is not a relative path below a root"):
        session.scan_sources({name: COPY})


def test_a_tree_is_scanned_and_nothing_is_written(
    session: ScanSession, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_DATA_HOME", "JARVIS_DATA_DIR"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    before = sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*"))

    report = session.scan(tree)

    assert places(report) == FOUND
    assert sorted((path, path.stat().st_mtime_ns) for path in tree.rglob("*")) == before
    assert list(home.iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_several_paths_share_a_root(session: ScanSession, tree: Path) -> None:
    report = session.scan(tree / "a.c", tree / "sub", root=tree)

    assert places(report) == ["a.c:2 unsafe_api", "sub/b.c:1 command_execution"]


def test_a_tree_is_scanned_with_the_macros_of_its_build(tmp_path: Path) -> None:
    code = "#include <string.h>\nvoid f(const char *text)\n{\n    char small[SMALL];\n    memcpy(small, text, 16);\n}\n"
    (tmp_path / "a.c").write_text(code)
    entry = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", "-DSMALL=8", "a.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))

    with ScanSession(ScanOptions(compile_commands=tmp_path / "compile_commands.json")) as other:
        assert "a.c:5 flow_buffer_overflow" in places(other.scan(tmp_path))


def test_files_that_the_build_compiles_are_scanned_whatever_their_names(tmp_path: Path) -> None:
    (tmp_path / "impl.txt").write_text("#include <string.h>\nvoid f(char *d, const char *s) { strcpy(d, s); }\n")
    entry = {"directory": str(tmp_path), "file": "impl.txt", "arguments": ["cc", "-x", "c", "-c", "impl.txt"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))

    with ScanSession(ScanOptions(compile_commands=tmp_path / "compile_commands.json")) as other:
        assert "impl.txt:2 unsafe_api" in places(other.scan(tmp_path))


def test_suppressed_findings_have_their_reason(session: ScanSession, tree: Path) -> None:
    (quiet,) = session.scan(tree).suppressed

    assert quiet.suppression == api.Suppression("comment", "measured")
    assert quiet.file == "quiet.c"


def test_what_is_not_checked_is_named(session: ScanSession, tree: Path) -> None:
    (tree / "away.c").symlink_to("/etc/passwd")
    report = session.scan(tree)

    assert not report.complete
    assert report.run.state == "incomplete"
    assert [gap.file for gap in report.not_checked] == ["away.c"]


def test_every_format_is_rendered(session: ScanSession, tree: Path, tmp_path: Path) -> None:
    report = session.scan(tree)

    assert json.loads(report.to_json())["summary"]["total"] == 3
    assert json.loads(report.to_sarif())["version"] == "2.1.0"
    assert "strcpy(a, b);" in report.to_html()
    assert report.to_markdown().startswith("#")
    assert report.to_junit().startswith("<?xml")
    assert json.loads(report.save(tmp_path / "r.sarif").read_text())["version"] == "2.1.0"
    with pytest.raises(UsageError, match="unknown suffix"):
        report.save(tmp_path / "r.docx")


def test_a_report_is_pickled_and_immutable(session: ScanSession) -> None:
    report = session.scan_text(COPY)
    copy = pickle.loads(pickle.dumps(report))  # noqa: S301

    assert copy.findings == report.findings
    assert copy.to_json() == report.to_json()
    with pytest.raises(AttributeError):
        report.findings[0].file = "other.c"  # type: ignore[misc]


def test_a_difference_tells_new_from_fixed(session: ScanSession) -> None:
    before = session.scan_sources({"a.c": COPY, "b.c": SYSTEM})
    after = session.scan_sources({"a.c": "// moved\n" + COPY, "b.c": TWICE})
    found = api.diff(before, after)

    assert [one.file for one in found.new] == ["b.c"]
    assert [one.rule_id for one in found.fixed] == ["command_execution"]
    assert (found.unchanged, found.changed, found.not_checked) == (1, (), ())


def test_a_difference_does_not_call_fixed_what_was_not_scanned(session: ScanSession, tree: Path) -> None:
    found = api.diff(session.scan(tree), session.scan(tree / "a.c", root=tree))

    assert found.fixed == ()
    assert {one.finding.file for one in found.not_checked} == {"sub/b.c", "twice.c"}


@pytest.mark.slow
def test_a_baseline_leaves_what_is_new(session: ScanSession, tree: Path, tmp_path: Path) -> None:
    before = session.scan(tree)
    (tree / "new.c").write_text(SYSTEM)
    saved = before.save(tmp_path / "before.json")
    for baseline in (before, saved, str(saved)):
        with ScanSession(ScanOptions(baseline=baseline)) as other:
            report = other.scan(tree)
        assert places(report) == ["new.c:1 command_execution"]
        assert (report.summary.known, report.summary.gone) == (3, 0)
    with pytest.raises(UsageError, match="lists only findings new"):
        api.diff(before, report)


def test_progress_names_the_stages_in_order(session: ScanSession, tree: Path) -> None:
    seen: list[ScanProgress] = []
    session.scan(tree, on_progress=seen.append)

    assert [event.stage for event in seen] == ["pack", "scan", "summarize", "flow", "report"]
    assert seen[0].done == sum(path.stat().st_size for path in tree.rglob("*.c"))
    assert [event.fraction for event in seen[1:]] == [1.0] * 4
    assert (seen[1].files, seen[-1].findings) == (4, 3)


@pytest.mark.slow
def test_what_a_progress_callback_raises_ends_the_scan(session: ScanSession, tree: Path) -> None:
    def fail(_: ScanProgress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        session.scan(tree, on_progress=fail)
    assert len(session.scan(tree).findings) == 3


@pytest.mark.slow
def test_cancel_ends_a_scan_within_a_second(session: ScanSession, tree: Path) -> None:
    token, cancelled_at = CancelToken(), list[float]()

    def cancel_once_it_runs(event: ScanProgress) -> None:
        if event.stage == "scan":
            cancelled_at.append(time.monotonic())
            token.cancel()

    with pytest.raises(ScanCancelled):
        session.scan(tree, on_progress=cancel_once_it_runs, cancel=token)
    assert time.monotonic() - cancelled_at[0] < 1
    with pytest.raises(ScanCancelled):
        session.scan(tree, cancel=token)


@pytest.mark.slow
def test_a_dead_child_is_replaced(session: ScanSession, tree: Path) -> None:
    session.scan_text(COPY)
    for child in psutil.Process().children():
        child.kill()

    assert len(session.scan(tree).findings) == 3


def test_threads_share_a_session(session: ScanSession) -> None:
    with ThreadPoolExecutor(3) as pool:
        reports = list(pool.map(lambda n: session.scan_text(f"// {n}\n{COPY}"), range(6)))

    assert [report.findings[0].start_line for report in reports] == [3] * 6


def test_a_closed_session_is_refused() -> None:
    session = ScanSession()
    session.close()
    with pytest.raises(UsageError, match="closed"):
        session.scan_text(COPY)


@pytest.mark.slow
def test_the_event_loop_goes_on_while_a_scan_runs(tree: Path) -> None:
    turns: list[str] = []

    async def main() -> Report:
        threads: set[int] = set()
        scan = asyncio.create_task(api.scan_async(tree, on_progress=lambda _: threads.add(threading.get_ident())))
        while not scan.done():
            turns.append("turn")
            await asyncio.sleep(0.01)
        assert threads == {threading.get_ident()}
        return await scan

    assert len(asyncio.run(main()).findings) == 3
    assert len(turns) > 3


def test_a_cancelled_task_ends_its_scan() -> None:
    async def main() -> float:
        scan = asyncio.create_task(api.scan_text_async(COPY))
        await asyncio.sleep(0)
        started = time.monotonic()
        scan.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scan
        return time.monotonic() - started

    assert asyncio.run(main()) < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rules": ["unsafe_apy"]}, 'rules: unknown rule "unsafe_apy" \\(did you mean "unsafe_api"'),
        ({"only": ["crypt"]}, 'only: unknown category "crypt"'),
        ({"baseline": "no.json"}, "cannot be read"),
        ({"triage": "no.yaml"}, "no.yaml"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        api.scan_text(COPY, options=ScanOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rules": "unsafe_api"}, "rules is the string 'unsafe_api'; give a list"),
        ({"languages": ["rusty"]}, 'did you mean "rust"'),
        ({"severity": {"unsafe_api": "hgih"}}, 'did you mean "high"'),
        ({"min_confidence": 3}, "min_confidence is 3; expected a number from 0 to 1"),
        ({"processes": 0}, "processes is 0"),
        ({"languages": []}, "languages is empty"),
        ({"depth": "rule"}, 'depth: "rule" is not one of rules, flow'),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused_at_once(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ScanOptions(**options)  # type: ignore[arg-type]


def test_depth_rules_disables_the_flow_rules() -> None:
    off = choose_rules(ScanOptions(depth="rules")).facts.off

    assert off
    assert all(name.startswith("flow_") for name in off)


def test_a_path_that_is_not_there_is_refused(session: ScanSession, tree: Path) -> None:
    with pytest.raises(UsageError, match="no such file or directory"):
        session.scan(tree / "gone")


def test_a_source_that_is_no_text_is_scanned_as_bytes(session: ScanSession) -> None:
    assert [one.start_line for one in session.scan_text(b"// \xff\n" + COPY.encode()).findings] == [3]
    with pytest.raises(UsageError, match="give bytes"):
        session.scan_text("// \ud800")


@pytest.mark.parametrize("ci", [False, True])
def test_settings_become_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: bool) -> None:
    """In CI without a base revision, only those that do not narrow the scan."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CI", str(ci).lower())
    (tmp_path / "jarvis.yaml").write_text(
        "rules: {disable: [atoi_family], paths: [own]}\nscan: {exclude_dirs: [gen]}\nreport: {min_confidence: 0.7}\n"
        "processes: 3\n"
    )
    options = ScanOptions.from_settings(tmp_path)

    assert options.processes == 3
    if ci:
        assert (options.exclude_rules, options.rule_paths, options.min_confidence) == ((), (), 0.4)
        return
    assert (options.exclude_rules, options.exclude_dirs, options.min_confidence) == (("atoi_family",), ("gen",), 0.7)
    assert options.rule_paths == (tmp_path / "own",)


@pytest.mark.slow
def test_cached_results_are_used_by_the_next_scan(tree: Path, tmp_path: Path) -> None:
    with ScanSession(ScanOptions(cache=True, data_directory=tmp_path / "data")) as session:
        first = session.scan(tree)
        (tree / "a.c").write_text("// new\n" + SYSTEM)
        second = session.scan(tree)

    assert [report.run.stages[0].cached for report in (first, second)] == [0, 3]
    assert places(second)[0] == "a.c:2 command_execution"
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "data" / "jarvis.db").exists()


def test_a_report_is_printed_as_a_line(session: ScanSession) -> None:
    report = session.scan_text(COPY + SYSTEM, filename="a.c")

    assert str(report) == "2 findings in 1 file: 2 medium"
    assert repr(report) == f"<Report {report.run.id} done: {report}>"
    assert report.to_text().splitlines()[-1] == str(report)
    assert str(session.scan_text("int n;\n")) == "0 findings in 1 file"


@pytest.mark.slow
def test_what_is_no_option_and_no_severity_is_refused_by_name(session: ScanSession) -> None:
    with pytest.raises(UsageError, match=r'severity: "critical" is not one of high, medium, low'):
        session.scan_text("int n;\n").at_least("critical")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="options is a dict; give a ScanOptions"):
        ScanSession({"rules": ["unsafe_api"]})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected a number from 1 to 1,000,000"):
        ScanOptions(processes=0)
    with (
        pytest.raises(UsageError, match=r"^baseline gone\.json: cannot be read"),
        ScanSession(ScanOptions(baseline="gone.json")) as other,
    ):
        other.scan_text("int n;\n")


@pytest.mark.slow
def test_rules_and_files_are_chosen(tree: Path) -> None:
    (tree / "sub").rename(tree / "vendor")
    (tree / "gen").mkdir()
    (tree / "gen" / "g.c").write_text(COPY)
    chosen = ScanOptions(
        rules=["unsafe_api", "command_execution"],
        severity={"unsafe_api": "low"},
        exclude=["quiet.c"],
        exclude_dirs=["gen"],
    )
    report = api.scan(tree, options=chosen)

    found = [(one.file, one.rule_id, one.severity) for one in report.findings]
    assert found == [("a.c", "unsafe_api", "low"), ("vendor/b.c", "command_execution", "medium")]
    assert [one.file for one in report.at_least("medium")] == ["vendor/b.c"]
    assert report.suppressed == ()
