"""What sources include is in a snapshot, whatever its name, or is reported; nothing outside of the root is read."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.snapshots import include_closure
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.entries import LeftOut, NotChecked, OtherFiles
from jarvis_workers.snapshots.exclusion_reasons import (
    EXCLUDED,
    INCLUDED_FROM_OUTSIDE,
    INCLUDED_RUST,
    LINK_OUT,
    LINK_TO_NO_SOURCE,
    NOT_INCLUDED,
    TOO_MANY_INCLUDED,
    ignored_by_file,
    included_by_macro,
    too_large,
)
from jarvis_workers.snapshots.include_closure import IncludeClosure
from jarvis_workers.snapshots.pack import Snapshot, pack
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.unchanged_since import Unchanged

Grow = Callable[[Path, Mapping[str, str | bytes]], Path]
CODE = "int f(void);\n"


@pytest.fixture
def blobs(tmp_path: Path) -> DirectoryBlobs:
    return DirectoryBlobs(tmp_path / "blobs")


@pytest.fixture
def followed() -> Selection:
    return Selection(frozenset({b".c", b".h", b".rs"}), follow_includes=True)


def paths(blobs: DirectoryBlobs, snapshot: Snapshot) -> list[str]:
    with open_snapshot(blobs, snapshot.id) as reader:
        return [os.fsdecode(entry.path) for entry in reader.files()]


@pytest.mark.parametrize(
    ("place", "line", "included"),
    [
        ("a.c", '#include "body.txt"', "body.txt"),
        ("src/a.c", '#include "evil.inc"', "src/evil.inc"),
        ("src/a.c", '#include "../big.h.in"', "big.h.in"),
        ("src/a.c", '#include "sub/none"', "src/sub/none"),
        ("src/a.c", "#include <parts.def>", "parts.def"),
        ("src/a.c", "#include <parts.def>", "include/parts.def"),
        ("src/a.c", '#include "parts/p.tbl"', "include/parts/p.tbl"),
        ("src/a.c", '#include "..\\\\parts.def"', "parts.def"),
        ("src/a.h", '#include "evil.inc"', "src/evil.inc"),
        ("a.c", '#include ".gitignore"', ".gitignore"),
        ("a.c", '#define BODY "body.txt"\n#include BODY', "body.txt"),
    ],
)
def test_an_included_file_is_packed_whatever_its_name(
    place: str, line: str, included: str, tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    line = line.replace("\\\\", "\\")
    tree = grow(tmp_path / "tree", {place: line + "\n", included: CODE, "notes.txt": "not included", "other.inc": ""})
    snapshot = pack(tree, followed, blobs)

    assert paths(blobs, snapshot) == [place, included]
    assert (snapshot.not_checked, snapshot.left_out) == ((), {})


def test_included_files_are_followed_to_the_end_and_in_circles(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    files = {"a.c": '#include "1.inc"\n', "9.inc": '#include "1.inc"\n#include "9.inc"\n#include "a.c"\n'}
    files |= {f"{number}.inc": f'#include "{number + 1}.inc"\n' for number in range(1, 9)}
    snapshot = pack(grow(tmp_path / "tree", files), followed, blobs)

    assert paths(blobs, snapshot) == ["a.c", *(f"{number}.inc" for number in range(1, 10))]


def test_the_file_beside_the_including_one_wins_and_otherwise_all_are_packed(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    files = {"a/a.c": '#include "x.inc"\n', "b/b.c": '#include "y.inc"\n'}
    files |= {place: CODE for place in ("a/x.inc", "b/x.inc", "c/y.inc", "d/y.inc", "d/not_y.inc")}
    snapshot = pack(grow(tmp_path / "tree", files), followed, blobs)

    assert paths(blobs, snapshot) == ["a/a.c", "b/b.c", "a/x.inc", "c/y.inc", "d/y.inc"]


def test_a_snapshot_does_not_depend_on_the_order_in_which_files_were_created(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    files = {"a.c": '#include "z.inc"\n#include "b.inc"\n', "z.inc": '#include "c/d.inc"\n', "b.inc": "", "c/d.inc": ""}
    first = pack(grow(tmp_path / "one", files), followed, blobs)

    assert pack(grow(tmp_path / "two", dict(reversed(files.items()))), followed, blobs) == first


@pytest.mark.parametrize(
    ("options", "more", "reason"),
    [
        ({}, {".jarvisignore": "*.inc\n"}, ignored_by_file(".jarvisignore")),
        ({}, {".gitignore": "x.inc\n"}, ignored_by_file(".gitignore")),
        ({"exclude": ("x.inc",)}, {}, EXCLUDED),
        ({"include": ("a.c",)}, {}, NOT_INCLUDED),
    ],
)
def test_an_included_file_that_the_selection_excludes_is_counted(
    options: dict[str, tuple[str, ...]],
    more: dict[str, str],
    reason: str,
    tmp_path: Path,
    grow: Grow,
    blobs: DirectoryBlobs,
    followed: Selection,
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": '#include "x.inc"\n', "x.inc": CODE, **more})
    snapshot = pack(tree, replace(followed, **options), blobs)  # type: ignore[arg-type]

    assert paths(blobs, snapshot) == ["a.c"]
    assert snapshot.left_out == {reason: 1}


def test_included_files_that_cannot_be_read_are_named(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    names = ("pipe.inc", "large.inc", "link.inc", "out.inc")
    lines = "".join(f'#include "{name}"\n' for name in names)
    tree = grow(tmp_path / "tree", {"a.c": lines, "large.inc": "x" * 2_000, "target.inc": CODE})
    grow(tmp_path, {"secret.inc": '#include "target.inc"\n'})
    os.mkfifo(tree / "pipe.inc")
    (tree / "link.inc").symlink_to("target.inc")
    (tree / "out.inc").symlink_to("../secret.inc")
    snapshot = pack(tree, replace(followed, max_file_bytes=1_000), blobs)

    assert paths(blobs, snapshot) == ["a.c"]
    assert sorted(snapshot.not_checked) == [
        (b"large.inc", too_large(2_000, 1_000)),
        (b"link.inc", LINK_TO_NO_SOURCE),
        (b"out.inc", LINK_OUT),
        (b"pipe.inc", "named pipe, not a regular file"),
    ]


def test_macros_and_files_outside_of_the_root_are_counted_and_files_that_are_not_there_are_not(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    lines = '#include CONFIG\n#include "../secret.inc"\n#include "generated.inc"\n#include <vector>\n#include "x.rs"\n'
    tree = grow(tmp_path / "tree", {"a.c": lines, "x.rs": ""})
    grow(tmp_path, {"secret.inc": CODE})
    snapshot = pack(tree, followed, blobs)

    assert paths(blobs, snapshot) == ["a.c", "x.rs"]
    assert snapshot.left_out == {included_by_macro(b"CONFIG"): 1, INCLUDED_FROM_OUTSIDE: 1}
    assert snapshot.not_checked == ((b"a.c", INCLUDED_RUST),)


def test_an_unchanged_source_includes_as_well(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    line = '#include "x.inc"\n'
    tree = grow(tmp_path / "tree", {"a.c": line, "x.inc": CODE})
    name = hashlib.sha1(b"blob %d\0%b" % (len(line), line.encode())).hexdigest()
    snapshot = pack(tree, replace(followed, unchanged=Unchanged("HEAD", {b"a.c": name})), blobs)

    assert paths(blobs, snapshot) == ["x.inc"]


def test_the_root_may_be_a_link(tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection) -> None:
    grow(tmp_path / "tree", {"a.c": '#include "1.inc"\n', "1.inc": '#include "2.inc"\n', "2.inc": CODE})
    (tmp_path / "link").symlink_to("tree")

    assert paths(blobs, pack(tmp_path / "link", followed, blobs)) == ["a.c", "1.inc", "2.inc"]


def test_more_files_than_the_bound_are_reported() -> None:
    closure = IncludeClosure(Selection(frozenset({b".c"})), files_max=3)
    closure.add_others(OtherFiles(b"", tuple(b"%d.inc" % number for number in range(5))))
    closure.add_source(b"a.c", b"".join(b'#include "%d.inc"\n' % number for number in range(5)))

    assert closure.paths(Path("/nowhere"), os.read) == {b"0.inc", b"1.inc", b"2.inc"}
    assert list(closure.remarks()) == [NotChecked(b".", TOO_MANY_INCLUDED)]


def test_only_some_macros_are_listed_by_name() -> None:
    closure = IncludeClosure(Selection(frozenset({b".c"})))
    most = include_closure.MACROS_LISTED
    closure.add_source(b"a.c", b"".join(b"#include M%02d\n" % number for number in range(most + 5)))

    assert list(closure.remarks())[-2:] == [
        LeftOut(included_by_macro(b"M%02d" % (most - 1))),
        LeftOut(included_by_macro(None), 5),
    ]


@pytest.mark.parametrize("name", [b"a.cpp", b"a.CPP", b"a.Cpp", b"a.H", b"a.HPP", b"a.C", b"a.RS"])
def test_suffixes_select_capitals_too(name: bytes) -> None:
    assert Selection(frozenset({b".cpp", b".h", b".hpp", b".c", b".rs"})).is_source(name)


def test_a_suffix_in_capitals_selects_only_itself() -> None:
    assert not Selection(frozenset({b".C"})).is_source(b"a.c")
