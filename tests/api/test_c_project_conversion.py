"""Moving a C project to Rust from Python: libraries, translation, optimization; the model is a scripted server."""

import json
import shutil
from pathlib import Path

import pytest

from jarvis_workers.api import UsageError, apply_library_replacement, optimize_project, run_scan, run_transpile
from tests.agents.loop.server import ModelServer
from tests.agents.loop.translating import perfect, with_reviews
from tests.cli.test_c2rust_lib_replace import judge
from tests.support.settings_files import write_settings

SOURCE = """static int step(int n) { return n * 3; }
int checksum(int n) { return step(n) + 1; }
int twice(int n) { return n * 2; }
"""
TEST = """int checksum(int n);
int twice(int n);
int main(void) { return !(checksum(2) == 7 && twice(2) == 4 && twice(-3) == -6); }
"""
MAKEFILE = "test: check\n\t./check\ncheck: a.o check.o\n\t$(CC) -o $@ a.o check.o\n"
CRATE = {
    "Cargo.toml": '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn first(x: &[u8; 2]) -> u8 {\n    unsafe { x[0] }\n}\n",
}


@pytest.fixture
def place(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    shutil.copyfile(sqlite_template, tmp_path / "data" / "jarvis.db")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JARVIS_PROCESSES", "0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_model(place: Path, server: ModelServer) -> None:
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    settings = {"models": {"m": group}, "c2rust": {"allowed_crates": ["crc32fast"]}}
    write_settings(place, settings)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.slow
def test_functions_are_replaced_by_libraries(place: Path) -> None:
    root = write(place / "project", {"a.c": SOURCE})
    run_scan(root, png=False)
    with ModelServer(forever=lambda body: judge(body, {"checksum": ["crc32fast"]})) as server:
        with_model(place, server)
        found = apply_library_replacement(root, candidates=["checksum", "twice"], out_mapping_path=place / "map.jsonl")

    assert (found.replaced, found.pruned, found.not_checked) == (1, 1, ())
    assert found.symbols == root / ".jarvis" / "c2rust" / "symbols.jsonl"
    names = [json.loads(line)["name"] for line in found.symbols.read_text().splitlines()]
    assert names == ["checksum", "twice"]
    assert (place / "map.jsonl").read_bytes() == found.mapping.read_bytes()


def test_without_a_model_or_symbols_there_is_no_replacement(place: Path) -> None:
    root = write(place / "project", {"a.c": SOURCE})
    with pytest.raises(UsageError, match="no symbols"):
        apply_library_replacement(root)
    run_scan(root, png=False)
    with pytest.raises(UsageError, match="this command asks a model"):
        apply_library_replacement(root / ".jarvis" / "c2rust" / "symbols.jsonl")


@pytest.mark.slow
def test_a_model_translates_a_project(place: Path) -> None:
    root = write(place / "project", {"a.c": SOURCE, "check.c": TEST, "Makefile": MAKEFILE})
    with ModelServer(forever=with_reviews(perfect)) as server:
        with_model(place, server)
        found = run_transpile(root, build="make check", tests=["make test"], only=["twice", "step", "checksum"])

    assert found.crate == place / "project_rs"
    states = [json.loads(line)["state"] for line in found.symbol_map.read_text().splitlines()]
    assert states.count("translated") == 3
    assert "translated by the model" in found.summary


def test_a_translation_needs_a_model_and_a_build_for_its_tests(place: Path) -> None:
    root = write(place / "project", {"a.c": SOURCE})
    with pytest.raises(UsageError, match="this command asks a model"):
        run_transpile(root)
    with ModelServer() as server:
        with_model(place, server)
    with pytest.raises(UsageError, match="tests require the build"):
        run_transpile(root, tests=["make test"])


@pytest.mark.slow
def test_a_crate_is_optimized(place: Path) -> None:
    crate = write(place / "small", CRATE)
    tried = optimize_project(crate, dry_run=True)
    assert (tried.unsafe_removed, (crate / "src/lib.rs").read_text()) == (1, CRATE["src/lib.rs"])

    report = optimize_project(crate)

    assert (report.files_scanned, report.unsafe_removed, report.errors) == (1, 1, ())
    assert "unsafe" not in (crate / "src/lib.rs").read_text()
    assert optimize_project(crate) == optimize_project(crate, include=["none"])


def test_what_cannot_be_optimized_is_refused(place: Path) -> None:
    crate = write(place / "small", CRATE)
    with pytest.raises(UsageError, match="there is no pass unsave; passes: unsafe, structure, visibility, doc"):
        optimize_project(crate, passes=["unsave"])
    with pytest.raises(UsageError, match="not a Rust crate"):
        optimize_project(place / "data")
    assert optimize_project(crate, include=["none"]).files_scanned == 0
    assert json.loads((crate / ".jarvis" / "c2rust" / "optimize_report.json").read_text())["cargo_checks"] == 0
