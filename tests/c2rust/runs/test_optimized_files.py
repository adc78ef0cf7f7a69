"""Which files of a crate `jarvis c2rust optimize` changes, after earlier commands."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from jarvis_workers.c2rust.runs.optimize_run import chosen_files, find_rust_crate
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions, OptimizeRequest

ALL = OptimizeRequest(options=OptimizeOptions(passes=("unsafe", "doc")))
DOC = OptimizeRequest(options=OptimizeOptions(passes=("doc",)))


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    for name in ("src/lib.rs", "src/a.rs", "src/b.rs", "tests/t.rs"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"// {name}\n")
    return tmp_path


def progress(crate: Path, text: str) -> None:
    place = crate / ".jarvis" / "c2rust"
    place.mkdir(parents=True)
    (place / "optimize_progress.json").write_text(text)


def done(crate: Path, name: str, *passes: str) -> dict[str, object]:
    return {name: {"hash": sha256((crate / name).read_bytes()).hexdigest(), "passes": passes}}


def chosen(crate: Path, choice: OptimizeRequest = ALL) -> tuple[list[str], list[str]]:
    """Return the files, and what is said."""
    lines: list[str] = []
    return chosen_files(crate, choice, lines.append), lines


def test_files_that_have_had_all_passes_and_did_not_change_are_left_out(crate: Path) -> None:
    files = {**done(crate, "src/a.rs", "doc", "unsafe"), **done(crate, "src/b.rs", "doc")}
    progress(crate, json.dumps({"processed": ["src/a.rs", "src/b.rs"], "files": files}))
    assert chosen(crate) == (["src/b.rs", "src/lib.rs", "tests/t.rs"], [])

    (crate / "src/a.rs").write_text("// edited\n")
    assert "src/a.rs" in chosen(crate)[0]


@pytest.mark.parametrize("text", ["{", "[]", '{"files": {"src/a.rs": {"state": 2}}}', '{"files": ["src/a.rs"]}', "\0"])
def test_progress_that_cannot_be_read_is_said_and_not_used(crate: Path, text: str) -> None:
    progress(crate, text)
    files, (line,) = chosen(crate)
    assert len(files) == 4
    assert line.endswith("optimize_progress.json: cannot be read as the progress of this version, and is not used")


def test_patterns_are_relative_to_the_crate(crate: Path) -> None:
    choice = replace(DOC, include=("src",), exclude=("*/b.rs",))
    assert chosen(crate, choice) == (["src/a.rs", "src/lib.rs"], [])
    assert chosen(crate, replace(DOC, max_files=1))[0] == ["src/a.rs"]


def test_the_crate_is_the_given_one_the_directory_that_beside_it_or_the_first_below(tmp_path: Path) -> None:
    here, other = tmp_path / "lib", tmp_path / "other"
    for place in (here / "b" / "crate", here / "a" / "target", other):
        place.mkdir(parents=True)
        (place / "Cargo.toml").touch()

    assert find_rust_crate(other, here) == other
    assert find_rust_crate(None, here).resolve() == here / "b" / "crate"
    (tmp_path / "lib_rs").mkdir()
    (tmp_path / "lib_rs" / "Cargo.toml").touch()
    assert find_rust_crate(None, here).resolve() == tmp_path / "lib_rs"
    (here / "Cargo.toml").touch()
    assert find_rust_crate(None, here).resolve() == here
