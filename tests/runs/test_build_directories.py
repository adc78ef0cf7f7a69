"""Directories of builds: one path a tree, locked while in use, and few of them."""

from pathlib import Path

import pytest

from jarvis_workers.builds.build_directory import MOST_AT_ONCE, open_build_directory
from jarvis_workers.errors import UsageError


def test_a_tree_has_the_same_path_again_and_another_one_while_it_is_in_use(tmp_path: Path) -> None:
    first = open_build_directory(tmp_path / "my tree", tmp_path)
    (first.place / "old").touch()
    second = open_build_directory(tmp_path / "my tree", tmp_path)
    place = first.place
    del first
    again = open_build_directory(tmp_path / "my tree", tmp_path)

    assert place.name.startswith("my_tree-")
    assert second.place.name == f"{place.name}-2"
    assert again.place == place
    assert list(place.iterdir()) == []


def test_builds_of_a_tree_at_once_are_bounded(tmp_path: Path) -> None:
    running = [open_build_directory(tmp_path / "tree", tmp_path) for _ in range(MOST_AT_ONCE)]

    with pytest.raises(UsageError, match="8 builds of this tree are running"):
        open_build_directory(tmp_path / "tree", tmp_path)
    assert len({one.place for one in running}) == MOST_AT_ONCE


def test_of_those_that_are_not_in_use_the_newest_remain(tmp_path: Path) -> None:
    used = open_build_directory(tmp_path / "used", tmp_path)
    for number in range(6):
        open_build_directory(tmp_path / f"tree{number}", tmp_path)

    names = sorted(path.name.split("-")[0] for path in (tmp_path / "builds").iterdir())
    assert set(names) == {"used", "tree2", "tree3", "tree4", "tree5"}
    assert used.place.is_dir()


def test_a_data_directory_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="builds: cannot be written: Not a directory; set data_dir"):
        open_build_directory(tmp_path, tmp_path / "file")
