"""Files of a user are replaced all or none, and never if they were edited meanwhile."""

from pathlib import Path

import pytest

from jarvis_workers.toolchain.file_changes import FileChange, replace_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("src/a", "src/b"):
        (tmp_path / name).write_bytes(b"old")
    return tmp_path


CHANGES = {name: FileChange(b"old", b"new") for name in ("src/a", "src/b")}


def contents(root: Path) -> list[bytes]:
    return [(root / name).read_bytes() for name in CHANGES]


def test_all_files_are_replaced_and_keep_their_modes(root: Path):
    (root / "src/a").chmod(0o755)

    assert replace_files(root, CHANGES) == ()
    assert contents(root) == [b"new", b"new"]
    assert (root / "src/a").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in (root / "src").iterdir()) == ["a", "b"]


def test_a_file_edited_meanwhile_stops_all(root: Path):
    (root / "src/b").write_bytes(b"mine")

    assert replace_files(root, CHANGES) == (f"{root}/src/b: edited meanwhile",)
    assert contents(root) == [b"old", b"mine"]


def test_an_interrupted_call_is_completed_by_the_next(root: Path):
    (root / "src/a").write_bytes(b"new")

    assert replace_files(root, CHANGES) == ()
    assert contents(root) == [b"new", b"new"]


def test_a_removed_file_is_not_created_again(root: Path):
    (root / "src/b").unlink()

    assert replace_files(root, CHANGES) == (f"{root}/src/b: removed meanwhile",)


def test_a_new_file_is_created_unless_it_exists(root: Path):
    new = {"src/deep/c": FileChange(None, b"c")}

    assert replace_files(root, new) == ()
    assert (root / "src/deep/c").read_bytes() == b"c"
    assert replace_files(root, {"src/a": FileChange(None, b"c")}) == (f"{root}/src/a: edited meanwhile",)


def test_symbolic_links_are_not_followed(root: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a").write_bytes(b"old")
    (root / "link").symlink_to(outside)
    (root / "src/b").unlink()
    (root / "src/b").symlink_to(outside / "a")

    names = ("link/a", "src/b", "../a", str(outside / "a"))
    assert len(replace_files(root, {name: FileChange(b"old", b"new") for name in names})) == len(names)
    assert (outside / "a").read_bytes() == b"old"


def test_a_file_that_cannot_be_written_restores_the_others(root: Path, monkeypatch: pytest.MonkeyPatch):
    replace = Path.replace

    def fail(path: Path, target: Path) -> Path:
        if target.name == "b":
            raise OSError(28, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        replace_files(root, CHANGES)
    assert contents(root) == [b"old", b"old"]
