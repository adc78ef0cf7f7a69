"""Scans from Python that need a results store: large trees, recorded runs, git revisions, files that kill a process."""

import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import psutil
import pytest

from jarvis_workers import api
from jarvis_workers.api import CancelToken, Report, ScanOptions, ScanProgress
from jarvis_workers.errors import ScanCancelled
from jarvis_workers.runs import wiring
from jarvis_workers.runs.runs import newest_runs
from jarvis_workers.settings import Settings, load_settings
from tests.support.gates import GATED, Gate
from tests.support.installed import install

pytestmark = pytest.mark.slow

COPY = "void f(char *a, char *b) { strcpy(a, b); }\n"
SYSTEM = "int g(char *s) { return system(s); }\n"
DEADLY = """\
import os
from jarvis_workers.sec.rules import Rule


def end(site):
    os._exit(7)


RULES = (
    Rule("deadly_rule", language="c/cpp", category="input_validation", cwe=20, confidence=0.7, check=end,
         title="deadly", description="d", suggestion="s", verification="", bad="deadly(a);", good="",
         calls=("deadly",)),
)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name, text in {"a.c": COPY, "b.c": SYSTEM}.items():
        (tmp_path / "src" / name).write_text(text)
    return tmp_path / "src"


def places(report: Report) -> list[tuple[str, int, str]]:
    return [(finding.file, finding.start_line, finding.rule_id) for finding in report.findings]


def test_a_large_tree_is_scanned_in_several_batches(tmp_path: Path) -> None:
    for number in range(1001):
        (tmp_path / f"f{number:04}.c").write_text(f"// {number}\n{COPY}")
    seen: list[ScanProgress] = []
    report = api.scan(tmp_path, on_progress=seen.append)

    assert report.complete
    assert places(report) == [(f"f{number:04}.c", 2, "unsafe_api") for number in range(1001)]
    assert report.findings[7].function == "f"
    assert {"pack", "scan", "flow", "report"} <= {event.stage for event in seen}
    assert {path.suffix for path in tmp_path.iterdir()} == {".c"}


def settings_in(place: Path) -> Settings:
    """Return the settings of a user whose data directory is there, for scans in this process."""
    environ = {"JARVIS_DATA_DIR": str(place / "data"), "JARVIS_PROCESSES": "0"}
    return load_settings({"where": "local"}, environ=environ, directory=place)


def test_a_recorded_run_is_that_of_the_command_line(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ScanOptions(record=True, data_directory=tmp_path / "data", write_artifacts=True)
    report, settings = api.scan(tree, options=options), settings_in(tmp_path)
    with wiring.store_of(settings) as store:
        (run,) = newest_runs(store, 9)

    assert (run.id, run.state) == (report.run.id, "done")
    assert api.build_json_and_markdown(run.id, settings=settings)[0] == report.to_json()
    assert {path.name for path in (tree / ".jarvis" / "sec").iterdir()} == {"heuristic_issues.jsonl", "progress.jsonl"}


def test_the_report_of_a_direct_scan_is_that_of_the_command_line(tree: Path, tmp_path: Path) -> None:
    direct = json.loads(api.scan(tree).to_json())
    stored = api.direct_scan(tree, settings=settings_in(tmp_path))

    assert direct["issues"] == stored["issues"]
    assert direct["summary"] == stored["summary"]
    assert direct["run"].keys() == stored["run"].keys()
    assert direct["run"]["snapshot"] == stored["run"]["snapshot"]


@pytest.fixture
def endless(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose scan does not end by itself."""
    Gate(tmp_path / "gate", monkeypatch)
    (tree / "gated.c").write_text(GATED)
    return tree


def test_cancel_leaves_a_recorded_run_cancelled(endless: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    token = CancelToken()
    before = set(psutil.Process().children())

    def cancel_while_it_scans(event: ScanProgress) -> None:
        if event.stage != "pack":
            token.cancel()

    with pytest.raises(ScanCancelled):
        api.scan(
            endless,
            options=ScanOptions(record=True, data_directory=tmp_path / "data"),
            on_progress=cancel_while_it_scans,
            cancel=token,
        )
    with wiring.store_of(settings_in(tmp_path)) as store:
        (run,) = newest_runs(store, 9)

    assert run.state == "cancelled"
    assert set(psutil.Process().children()) <= before


def test_what_a_progress_callback_raises_leaves_no_run_to_resume(
    endless: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def fail(event: ScanProgress) -> None:
        if event.stage != "pack":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        api.scan(endless, options=ScanOptions(record=True, data_directory=tmp_path / "data"), on_progress=fail)
    with wiring.store_of(settings_in(tmp_path)) as store:
        assert [run.state for run in newest_runs(store, 9)] == ["cancelled"]


def test_git_revisions_are_compared(tree: Path) -> None:
    def git(*args: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(["git", *who, *args], cwd=tree, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    (tree / "c.c").write_text(SYSTEM)

    report = api.scan(tree, options=ScanOptions(baseline="HEAD"))
    assert (places(report), report.summary.known) == ([("c.c", 1, "command_execution")], 2)
    assert places(api.scan(tree, options=ScanOptions(since="HEAD"))) == [("c.c", 1, "command_execution")]


def test_a_file_that_kills_its_process_is_not_checked(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = install(tmp_path / "packages", "deadly_rules:RULES", DEADLY, name="deadly")
    monkeypatch.setenv("PYTHONPATH", str(place))
    (tree / "deadly.c").write_text("void d(char *a) { deadly(a); }\n")
    monkeypatch.syspath_prepend(str(place))

    report = api.scan(tree)

    assert [finding.file for finding in report.findings] == ["a.c", "b.c"]
    assert [gap.file for gap in report.not_checked] == ["deadly.c"]


def test_a_plain_script_needs_no_main_guard(tree: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""\
        import threading
        from jarvis_workers.api import ScanOptions, scan
        found = [scan({str(tree)!r})]
        stored = ScanOptions(record=True, data_directory={str(tmp_path / "data")!r})
        other = threading.Thread(target=lambda: found.append(scan({str(tree)!r}, options=stored)))
        other.start()
        other.join()
        assert [one.rule_id for report in found for one in report.findings] == ["unsafe_api", "command_execution"] * 2
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_scan_with_a_store_runs_in_any_thread(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ScanOptions(record=True, data_directory=tmp_path / "data")
    found: list[Report] = []
    threads = [threading.Thread(target=lambda: found.append(api.scan(tree, options=options))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(report.findings) for report in found] == [2, 2]
