import gc
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.errors import SnapshotError, UsageError
from jarvis_workers.snapshots import ignore
from jarvis_workers.snapshots.entries import Excluded, FileFound, LeftOut, NotChecked
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.walk import LONGEST_PATH, OPEN_DIRECTORIES, walk


def found(root: Path, selection: Selection) -> list[bytes]:
    return [outcome.path for outcome in walk(root, selection) if isinstance(outcome, FileFound)]


def refused(root: Path, selection: Selection) -> dict[bytes, str]:
    return {outcome.path: outcome.reason for outcome in walk(root, selection) if isinstance(outcome, NotChecked)}


def left_out(root: Path, selection: Selection) -> list[LeftOut]:
    return [outcome for outcome in walk(root, selection) if isinstance(outcome, LeftOut)]


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys(["a/z.c", "a.c", "a-b.c", "a0.c", "a/b/c.c", "b.h"], "x"))

    assert found(tmp_path, chosen) == [b"a-b.c", b"a.c", b"a/b/c.c", b"a/z.c", b"a0.c", b"b.h"]


def test_names_are_bytes_of_any_kind(tmp_path: Path, chosen: Selection) -> None:
    names = [b"a b.c", b"line\nbreak.c", b"caf\xe9.c", "größe.c".encode()]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_text("x")

    assert found(tmp_path, chosen) == sorted(names)


def test_a_suffix_counts_with_its_case_and_not_without_a_stem(tmp_path: Path, grow) -> None:
    grow(tmp_path, dict.fromkeys(["a.c", "a.C", "a.c++", ".c", "c", "a.c.orig"], "x"))

    assert found(tmp_path, Selection(frozenset({b".C", b".c++"}))) == [b"a.C", b"a.c++"]


def test_files_that_are_no_source_are_not_even_counted(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys(["a.c", "report.json", "docs/a.txt", ".gitignore"], ""))
    (tmp_path / "gone").symlink_to("nowhere")

    assert [outcome.path for outcome in walk(tmp_path, chosen)] == [b"a.c"]


def test_excluded_directories_are_named_wherever_they_are_below_the_root(
    tmp_path: Path, grow, chosen: Selection
) -> None:
    root = grow(
        tmp_path / "build",
        dict.fromkeys(["a.c", "build/b.c", "src/vendor/c.c", ".pc/fix/e.c", ".jarvis/d.c", "out.c"], "x"),
    )

    assert found(root, chosen) == [b"a.c", b"out.c"]
    assert [outcome for outcome in walk(root, chosen) if isinstance(outcome, Excluded)] == [
        Excluded(b".pc", ignore.EXCLUDED_DIRECTORY),
        Excluded(b"build", ignore.EXCLUDED_DIRECTORY),
        Excluded(b"src/vendor", ignore.EXCLUDED_DIRECTORY),
    ]


def test_our_own_directory_goes_unnamed_only_right_below_the_root(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys([".jarvis/a.c", "src/.jarvis/b.c"], "x"))

    assert list(walk(tmp_path, chosen)) == [Excluded(b"src/.jarvis", ignore.EXCLUDED_DIRECTORY)]
    assert found(tmp_path, replace(chosen, exclude_dirs=frozenset())) == [b"src/.jarvis/b.c"]


def test_no_default_excludes_takes_them_in(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"build/b.c": "x"})

    assert found(tmp_path, replace(chosen, exclude_dirs=frozenset())) == [b"build/b.c"]


def test_links_within_the_tree_are_only_counted(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"src/a.c": "x"})
    (tmp_path / "b.c").symlink_to("src/a.c")
    (tmp_path / "again").symlink_to(tmp_path / "src")
    (tmp_path / "src" / "up").symlink_to("..")

    assert found(tmp_path, chosen) == [b"src/a.c"]
    assert left_out(tmp_path, chosen) == [LeftOut(ignore.LINK_WITHIN_THE_TREE)] * 3


def test_a_link_that_gives_a_source_name_to_what_is_no_source_is_refused(
    tmp_path: Path, grow, chosen: Selection
) -> None:
    grow(tmp_path, dict.fromkeys(["payload.txt", "b.c", "lib/x.inc", ".jarvis/d.c", "build/gen.txt"], "x"))
    os.mkfifo(tmp_path / "pipe")
    targets = {"a.c": "payload.txt", "chain.c": "a.c", "src/a.h": "../lib/x.inc", "own.c": ".jarvis/d.c"}
    targets |= {"fifo.c": "pipe", "note": "payload.txt", "ok.c": "b.c", "made.c": "build/gen.txt", "dir.c": "lib"}
    (tmp_path / "src").mkdir()
    for link, target in targets.items():
        (tmp_path / link).symlink_to(target)

    assert refused(tmp_path, chosen) == {
        b"a.c": ignore.LINK_TO_NO_SOURCE,
        b"chain.c": ignore.LINK_TO_NO_SOURCE,
        b"src/a.h": ignore.LINK_TO_NO_SOURCE,
        b"own.c": ignore.LINK_TO_OWN,
        b"fifo.c": "symbolic link: named pipe, not a regular file",
    }
    assert left_out(tmp_path, chosen) == [LeftOut(ignore.LINK_WITHIN_THE_TREE)] * 4
    assert found(tmp_path, chosen) == [b"b.c"]
    assert b"src/a.h" not in refused(tmp_path, replace(chosen, exclude=("/lib",)))
    assert b"made.c" in refused(tmp_path, replace(chosen, exclude_dirs=frozenset()))


def test_links_that_leave_the_root_or_lead_nowhere_are_refused_by_name(tmp_path: Path, grow, chosen: Selection) -> None:
    root = grow(tmp_path / "tree", {"a.c": "x"})
    grow(tmp_path / "tree-beside", {"b.c": "x"})
    (root / "away").symlink_to("../tree-beside")
    (root / "passwd").symlink_to("/etc/passwd")
    (root / "loop").symlink_to("loop")
    (root / "gone.c").symlink_to("nowhere.c")
    (root / "gone").symlink_to("a.c/below")
    (root / "build").symlink_to("/")

    assert refused(root, chosen) == {
        b"gone.c": ignore.LINK_BROKEN,
        b"loop": ignore.LINK_LOOP,
        b"away": ignore.LINK_OUT,
        b"passwd": ignore.LINK_OUT,
    }
    assert Excluded(b"build", ignore.EXCLUDED_DIRECTORY) in list(walk(root, chosen))


def test_pipes_sockets_and_devices_named_like_source_are_refused(tmp_path: Path, chosen: Selection) -> None:
    os.mkfifo(tmp_path / "pipe.c")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket.c"))

    assert refused(tmp_path, chosen) == {
        b"pipe.c": "named pipe, not a regular file",
        b"socket.c": "socket, not a regular file",
    }
    assert ignore.not_regular(Path("/dev/null").stat().st_mode) == "device, not a regular file"


def test_a_directory_without_permission_is_named_and_the_rest_goes_on(
    public_path: Path, grow, chosen: Selection, as_nobody: Callable[[], AbstractContextManager[None]]
) -> None:
    grow(public_path, {"closed/a.c": "x", "open/b.c": "x"})
    (public_path / "closed").chmod(0)
    (public_path / "link").symlink_to("closed/a.c")
    with as_nobody():
        assert refused(public_path, chosen) == {
            b"closed": ignore.NO_PERMISSION,
            b"link": f"symbolic link: {ignore.NO_PERMISSION}",
        }
        assert found(public_path, chosen) == [b"open/b.c"]
        with pytest.raises(SnapshotError, match="closed: no permission"):
            list(walk(public_path / "closed", chosen))


def test_a_root_that_is_no_tree_is_refused(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"a.c": "x"})
    os.mkfifo(tmp_path / "pipe.c")
    (tmp_path / "loop").symlink_to("loop")

    for name, says in {"none": "no such", "a.c/b": "no such", "pipe.c": "named pipe"}.items():
        with pytest.raises(UsageError, match=says):
            list(walk(tmp_path / name, chosen))
    with pytest.raises(SnapshotError, match="symbolic link loop"):
        list(walk(tmp_path / "loop", chosen))


def test_the_root_may_be_a_single_file_or_a_link(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"src/a.c": "x", "src/a.txt": "x"})
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "other.c").symlink_to("src/a.txt")

    assert found(tmp_path / "src" / "a.c", chosen) == [b"a.c"]
    assert list(walk(tmp_path / "src" / "a.txt", chosen)) == []
    assert found(tmp_path / "link", chosen) == [b"a.c"]
    assert [o.name for o in walk(tmp_path / "other.c", chosen) if isinstance(o, FileFound)] == [b"a.txt"]


@pytest.fixture
def dig(tmp_path: Path) -> Iterator[Callable[[int, bytes], Path]]:
    """Make a tree as deep as asked, with a file at its bottom and one half-way."""
    root = tmp_path / "deep"
    root.mkdir()

    def make(levels: int, name: bytes) -> Path:
        descriptor = os.open(root, os.O_DIRECTORY)
        for level in range(levels):
            if level == levels // 2:
                os.close(os.open(b"z.c", os.O_CREAT, dir_fd=descriptor))
            os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, os.O_DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        os.close(os.open(b"a.c", os.O_CREAT, dir_fd=descriptor))
        os.close(descriptor)
        return root

    yield make
    subprocess.run(["rm", "-rf", root], check=True)


def open_files() -> int:
    """Return how many files are open, without those that other tests have left to be collected."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
@pytest.mark.timing
def test_a_tree_of_five_thousand_levels_is_walked_with_few_open_files(dig, chosen: Selection) -> None:
    root = dig(5_000, b"d")
    before = open_files()
    paths, most = [], 0
    for outcome in walk(root, chosen):
        most = max(most, open_files() - before)
        paths.append(outcome.path)

    assert paths == [b"d/" * 5_000 + b"a.c", b"d/" * 2_500 + b"z.c"]
    assert most <= OPEN_DIRECTORIES + 2
    assert open_files() == before


@pytest.mark.timing
def test_what_lies_too_deep_is_named(dig, chosen: Selection) -> None:
    root = dig(LONGEST_PATH // 251 + 2, b"d" * 250)

    (reason,) = refused(root, chosen).values()
    assert reason == ignore.TOO_DEEP
    assert len(found(root, chosen)) == 1


@pytest.mark.timing
def test_a_directory_that_moves_meanwhile_is_named_and_never_followed(tmp_path: Path, dig, chosen: Selection) -> None:
    root = dig(2 * OPEN_DIRECTORIES, b"d")
    outcomes = walk(root, chosen)
    bottom = next(outcomes)
    (root / "d" / "d").rename(tmp_path / "elsewhere")

    assert isinstance(bottom, FileFound)
    assert [(o.path, o.reason) for o in outcomes if isinstance(o, NotChecked)] == [
        (b"d", ignore.MOVED),
        (b".", ignore.MOVED),
    ]


@pytest.mark.slow
def test_a_walk_that_is_given_up_closes_what_it_opened(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"a/b/c.c": "x"})
    before = open_files()
    outcomes = walk(tmp_path, chosen)
    next(outcomes)
    outcomes.close()

    assert open_files() == before


def test_only_named_paths_are_walked_in_the_order_of_all_paths(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys(["a/b.c", "a/x/c.c", "a.c", "lib/d.c", "lib/e.c", "other/f.c", "lib.c"], "x"))

    named = replace(chosen, paths=(b"a", b"a.c", b"lib/d.c", b"gone.c"))

    assert found(tmp_path, named) == [b"a.c", b"a/b.c", b"a/x/c.c", b"lib/d.c"]
    assert left_out(tmp_path, named) == []


def test_a_named_path_is_walked_whatever_leaves_it_out_but_for_an_exclude(
    tmp_path: Path, grow, chosen: Selection
) -> None:
    grow(
        tmp_path, dict.fromkeys(["vendor/a.c", "vendor/build/b.c", "vendor/c.c", "gen.c", "ignored/d.c", "top.c"], "x")
    )
    grow(tmp_path, {".gitignore": "gen.c\nignored\nc.c\n", "vendor/.gitignore": "c.c\n"})

    named = replace(chosen, paths=(b"ignored/d.c", b"gen.c", b"vendor"))
    assert found(tmp_path, named) == [b"gen.c", b"ignored/d.c", b"vendor/a.c"]
    assert found(tmp_path, replace(named, exclude=("vendor/", "gen.c"))) == [b"ignored/d.c"]

    both = replace(chosen, paths=(b"", b"vendor/build/b.c", b"gen.c"))
    assert found(tmp_path, both) == [b"gen.c", b"top.c", b"vendor/build/b.c"]
    assert Excluded(b"vendor", ignore.EXCLUDED_DIRECTORY) in list(walk(tmp_path, both))


def test_a_named_file_of_another_kind_is_counted(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys(["a.c", "README.md"], "x"))

    named = replace(chosen, paths=(b"README.md", b"a.c"))

    assert found(tmp_path, named) == [b"a.c"]
    assert left_out(tmp_path, named) == [LeftOut(ignore.NOT_SOURCE)]


def test_a_link_from_a_named_directory_to_source_that_is_not_named_is_refused(
    tmp_path: Path, grow, chosen: Selection
) -> None:
    grow(tmp_path, dict.fromkeys(["lib/a.c", "src/b.c"], "x"))
    (tmp_path / "src" / "c.c").symlink_to("../lib/a.c")

    assert refused(tmp_path, replace(chosen, paths=(b"src",))) == {b"src/c.c": ignore.LINK_OUT}
    assert refused(tmp_path, replace(chosen, paths=(b"lib", b"src"))) == {}
