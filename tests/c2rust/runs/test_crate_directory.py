"""The directory of a crate: a conversion replaces what a conversion wrote, and nothing else."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.runs.crate_directory import check_target, crate_name, write_files
from jarvis_workers.errors import UsageError

FILES = {"Cargo.toml": b"[package]\n", "src/lib.rs": b"mod a;\n", "src/a.rs": b"// a\n"}


def names(crate: Path) -> list[str]:
    return sorted(str(path.relative_to(crate)) for path in crate.rglob("*") if path.is_file())


def test_a_second_conversion_removes_what_the_first_one_wrote(tmp_path: Path) -> None:
    write_files(tmp_path / "crate", FILES)
    (tmp_path / "crate" / "notes.md").write_text("mine")
    write_files(tmp_path / "crate", {**FILES, "src/b.rs": b""} | {"src/lib.rs": b"mod b;\n"})
    (tmp_path / "crate" / "src" / "mine.rs").write_text("mine")
    write_files(tmp_path / "crate", {"Cargo.toml": b"", "src/lib.rs": b""})

    assert names(tmp_path / "crate") == [".jarvis-crate.json", "Cargo.toml", "notes.md", "src/lib.rs", "src/mine.rs"]


def test_a_crate_of_a_person_is_refused_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    for act in (lambda: check_target(tmp_path), lambda: write_files(tmp_path, FILES)):
        with pytest.raises(UsageError, match="not written by jarvis c2rust"):
            act()

    assert names(tmp_path) == ["Cargo.toml"]


@pytest.mark.parametrize(
    ("place", "reason"), [("notes/crate", "is not a directory"), ("/proc/crate", "cannot be written")]
)
def test_a_place_that_cannot_be_written_is_refused_before_the_conversion(
    tmp_path: Path, place: str, reason: str
) -> None:
    (tmp_path / "notes").write_text("mine")
    check_target(tmp_path / "new" / "crate")
    with pytest.raises(UsageError, match=rf"{place}: .*{reason}.*with -o"):
        check_target(tmp_path / place)

    assert names(tmp_path) == ["notes"]


def test_an_edited_file_is_not_overwritten(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    (tmp_path / "src" / "a.rs").write_text("edited")
    with pytest.raises(UsageError, match=r"src/a\.rs: edited since the last conversion"):
        write_files(tmp_path, {**FILES, "src/lib.rs": b"new"})

    assert (tmp_path / "src" / "a.rs").read_text() == "edited"
    assert (tmp_path / "src" / "lib.rs").read_bytes() == FILES["src/lib.rs"]


def test_a_new_file_does_not_replace_that_of_a_person(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    (tmp_path / "src" / "b.rs").write_text("mine")
    with pytest.raises(UsageError, match=r"src/b\.rs: not written by jarvis c2rust"):
        write_files(tmp_path, {**FILES, "src/b.rs": b""})

    assert (tmp_path / "src" / "b.rs").read_text() == "mine"


@pytest.mark.parametrize("name", ["../out", "/etc/out", "link/out"])
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    crate = tmp_path / "crate"
    write_files(crate, FILES)
    (tmp_path / "outside").mkdir()
    (crate / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="outside the crate"):
        write_files(crate, {name: b""})

    assert names(tmp_path / "outside") == []


@pytest.mark.parametrize(
    ("directory", "name"),
    [("zlib-1.3_rs", "zlib_1_3_rs"), ("7zip", "lib7zip"), ("crate", "libcrate"), ("std", "libstd"), ("---", "library")],
)
def test_the_name_of_a_crate_is_one_that_its_programs_can_use(tmp_path: Path, directory: str, name: str) -> None:
    assert crate_name(tmp_path / directory) == name
