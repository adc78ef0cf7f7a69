"""A scratch directory is measured and removed, whatever is in it."""

import os
from pathlib import Path

from jarvis_workers.toolchain import scratch
from jarvis_workers.toolchain.scratch import ENTRY_BYTES, TOO_MUCH


def make_deep(top: Path, levels: int) -> None:
    place = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("deeper", dir_fd=place)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=place))
    os.close(place)


def test_every_entry_counts_as_a_block_at_least(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory" / "empty").touch()
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "large").write_bytes(b"x" * 10 * ENTRY_BYTES)

    assert scratch.size_of(str(tmp_path)) == 13 * ENTRY_BYTES


def test_what_is_too_deep_to_be_measured_is_too_much(tmp_path: Path) -> None:
    make_deep(tmp_path, 1000)

    assert scratch.size_of(str(tmp_path)) == TOO_MUCH
    scratch.remove(str(tmp_path))


def test_a_closed_directory_is_measured_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "large").write_bytes(b"x" * 10 * ENTRY_BYTES)
    (tmp_path / "closed").chmod(0)

    assert scratch.size_of(str(tmp_path)) == 11 * ENTRY_BYTES


def test_what_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert scratch.size_of(str(tmp_path / "none")) == 0
    scratch.remove(str(tmp_path / "none"))


def test_a_directory_is_removed_however_deep_and_closed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "link").symlink_to(tmp_path)
    (tmp_path / "kept").touch()
    make_deep(top / "a", 3000)
    (top / "a" / "b").chmod(0)
    (top / "a").chmod(0)

    scratch.remove(str(top))

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
