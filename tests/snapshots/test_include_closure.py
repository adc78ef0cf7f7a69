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
from jarvis_workers.snapshots.ignore import (
    EXCLUDED,
    INCLUDED_BY_RUST,
    INCLUDED_FROM_OUTSIDE,
    INCLUDED_FROM_OWN,
    INCLUDED_RUST,
    LINK_BROKEN,
    LINK_OUT,
    LINK_WITHIN_THE_TREE,
    NOT_INCLUDED,
    TOO_MANY_INCLUDED,
    ignored_by_file,
    included_by_macro,
    included_from,
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
        ("src/a.c", '#include "../big.tab.in"', "big.tab.in"),
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
    names = ("pipe.inc", "large.inc", "broken.inc", "out.inc")
    lines = "".join(f'#include "{name}"\n' for name in names)
    tree = grow(tmp_path / "tree", {"a.c": lines, "large.inc": "x" * 2_000, "target.inc": CODE})
    grow(tmp_path, {"secret.inc": '#include "target.inc"\n'})
    os.mkfifo(tree / "pipe.inc")
    (tree / "broken.inc").symlink_to("nowhere.inc")
    (tree / "out.inc").symlink_to("../secret.inc")
    snapshot = pack(tree, replace(followed, max_file_bytes=1_000), blobs)

    assert paths(blobs, snapshot) == ["a.c"]
    assert sorted(snapshot.not_checked) == [
        (b"broken.inc", LINK_BROKEN),
        (b"large.inc", too_large(2_000, 1_000)),
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


@pytest.mark.parametrize(
    "line",
    [
        'include!("body.txt");',
        'include! { "body.txt" }',
        'std::include!(r#"body.txt"#);',
        'include!("./body\\x2etxt");',
        '#[path = "body.txt"]\nmod body;',
        '#[cfg_attr(all(), path = "body.txt")] mod body;',
        '#![path = "../src/body.txt"]',
        '#[cfg_attr(target_os = "linux", path = "body.txt")] mod body;',
        '#[cfg_attr(any(unix, target_os = "a[0]"), allow(dead_code), path = "body.txt")] mod body;',
        '#[cfg_attr(/* "x */ unix, path // ]\n = "body.txt")] mod body;',
        'include!( // comment\n "body.txt");',
        'include /* a /* b */ */ ! ("body.txt");',
        '#[path /*x*/ = "body.txt"] mod body;',
    ],
)
def test_what_rust_code_includes_under_another_name_is_not_checked(
    line: str, tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    tree = grow(tmp_path / "tree", {"src/lib.rs": line + "\n", "src/body.txt": "pub fn f() {}\n"})
    snapshot = pack(tree, followed, blobs)

    assert snapshot.not_checked == ((b"src/body.txt", INCLUDED_BY_RUST),)


def test_a_path_in_an_inline_module_is_found_in_the_directory_of_the_module(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    files = {"src/mod.rs": 'mod m { #[path = "body.txt"] mod x; }', "src/m/body.txt": "", "other/m/body.txt": ""}
    snapshot = pack(grow(tmp_path / "tree", files), followed, blobs)

    assert snapshot.not_checked == ((b"src/m/body.txt", INCLUDED_BY_RUST),)


def test_rust_code_included_from_excluded_directories_is_counted(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    lines = '#[path = "vendor/v.rs"] mod v;\ninclude!("target/gone.rs");\n#[path = "../../o.rs"] mod o;\n'
    files = {"src/lib.rs": lines, "src/vendor/v.rs": "", "lib.rs": 'include!("target/t.rs");', "target/t.rs": ""}
    excluding = replace(followed, exclude_dirs=frozenset({b"vendor", b"target"}))
    snapshot = pack(grow(tmp_path / "tree", files), excluding, blobs)

    assert snapshot.left_out == {included_from(b"src/vendor"): 1, included_from(b"target"): 1, INCLUDED_FROM_OUTSIDE: 1}


def test_the_suffix_of_rust_is_read_in_any_case(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    files = {
        "A.RS": '#[path = "B.RS"] mod b;',
        "B.RS": 'include!("body.txt");',
        "body.txt": "",
        "a.c": '#include "B.RS"',
    }
    snapshot = pack(grow(tmp_path / "tree", files), followed, blobs)

    assert snapshot.not_checked == ((b"a.c", INCLUDED_RUST), (b"body.txt", INCLUDED_BY_RUST))


def test_includes_of_rust_code_that_hide_nothing_are_no_gaps(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    lines = (
        '#[doc = include_str!("readme.md")]\ninclude!("part.rs");\ninclude!("gone.txt");\n'
        '#[route(path = "readme.md")]\n// #[path = "readme.md"]\n'
        '#[path = "."]\nmod inline { mod part; }\n'
        'include!(concat!(env!("OUT_DIR"), "/bindings.rs"));\ninclude!("../out.in");\n'
    )
    tree = grow(tmp_path / "tree", {"lib.rs": lines, "part.rs": "", "readme.md": ""})
    snapshot = pack(tree, followed, blobs)

    assert paths(blobs, snapshot) == ["lib.rs", "part.rs"]
    assert snapshot.left_out == {included_by_macro(b"concat"): 1, INCLUDED_FROM_OUTSIDE: 1}
    assert snapshot.not_checked == ()


def test_a_file_that_is_included_by_an_absolute_path_below_the_root_is_packed(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    names = (tmp_path / "tree/x.inc", tmp_path / "link/sub/../y.inc", tmp_path / "link/none.inc", "/usr/z.inc")
    lines = "".join(f'#include "{name}"\n' for name in names)
    tree = grow(tmp_path / "tree", {"a.c": lines, "x.inc": CODE, "y.inc": CODE, "sub/b.h": "", "usr/w.inc": ""})
    (tmp_path / "link").symlink_to("tree")

    for root in (tree, tmp_path / "link"):
        snapshot = pack(root, followed, blobs)
        assert paths(blobs, snapshot) == ["a.c", "sub/b.h", "x.inc", "y.inc"]
        assert (snapshot.not_checked, snapshot.left_out) == ((), {INCLUDED_FROM_OUTSIDE: 2})


@pytest.mark.parametrize(
    "line",
    [
        '#include "link/x.inc"',
        '#include "../src/link/x.inc"',
        "#include <link/x.inc>",
        '#include "link/../other/x.inc"',
        '#include "x.link"',
        "#include <x.link>",
        '#include "again/link/x.inc"',
    ],
)
def test_a_file_that_is_included_through_a_link_is_packed_once_at_its_real_path(
    line: str, tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    code = {"src/a.c": f'{line}\n#include "../deep/other/x.inc"\n', "deep/other/x.inc": CODE, "other/x.inc": ""}
    tree = grow(tmp_path / "tree", code)
    (tree / "src/link").symlink_to("../deep/other")
    (tree / "src/x.link").symlink_to("link/x.inc")
    (tree / "src/again").symlink_to("../src")
    snapshot = pack(tree, followed, blobs)

    assert paths(blobs, snapshot) == ["src/a.c", "deep/other/x.inc"]
    assert (snapshot.not_checked, snapshot.left_out) == ((), {LINK_WITHIN_THE_TREE: 3})


def test_links_that_lead_out_of_the_root_are_not_followed(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    tree = grow(tmp_path / "tree", {"a.c": '#include "away/x.inc"\n#include <away/back/y.inc>\n', "y.inc": CODE})
    grow(tmp_path / "out", {"x.inc": CODE})
    (tree / "away").symlink_to("../out")
    (tmp_path / "out/back").symlink_to("../tree")
    snapshot = pack(tree, followed, blobs)

    assert paths(blobs, snapshot) == ["a.c", "y.inc"]
    assert snapshot.not_checked == ((b"away", LINK_OUT),)


@pytest.mark.parametrize(
    ("line", "options", "more", "directory"),
    [
        ('#include "../build/x.h"', {}, {}, "build"),
        ('#include "build/x.h"', {}, {}, "build"),
        ("#include <sub/x.inc>", {"exclude": ("sub/",)}, {}, "lib/sub"),
        ("#include <gen/x.inc>", {}, {".gitignore": "gen/\n"}, "gen"),
        ("#include <gen/sub/x.hpp>", {}, {".jarvisignore": "gen\n"}, "include/gen"),
        ('#include "link.inc"', {}, {}, "vendor"),
        ('#include "ROOT/vendor/x.h"', {}, {}, "vendor"),
    ],
)
def test_files_that_are_included_from_excluded_directories_are_counted_by_directory(
    line: str,
    options: dict[str, tuple[str, ...]],
    more: dict[str, str],
    directory: str,
    tmp_path: Path,
    grow: Grow,
    blobs: DirectoryBlobs,
    followed: Selection,
) -> None:
    included = ("build/x.h", "lib/sub/x.inc", "gen/x.inc", "include/gen/sub/x.hpp", "vendor/x.h")
    code = {"src/a.c": line.replace("ROOT", str(tmp_path / "tree")) + '\n#include "build/none.h"\n'}
    tree = grow(tmp_path / "tree", {**code, **dict.fromkeys(included, CODE), **more})
    (tree / "src/link.inc").symlink_to("../vendor/x.h")
    snapshot = pack(tree, replace(followed, **options), blobs)  # type: ignore[arg-type]

    left_out = {why: files for why, files in snapshot.left_out.items() if why != LINK_WITHIN_THE_TREE}
    assert left_out == {included_from(directory.encode()): 1}
    assert os.fsencode(directory) in dict(snapshot.excluded)
    assert snapshot.not_checked == ()


def test_an_excluded_directory_that_is_named_is_scanned(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    lines = '#include "vendor/a/x.inc"\n#include "vendor/b/x.inc"\n#include "other/x.inc"\n'
    files = dict.fromkeys(("vendor/a/x.inc", "vendor/b/x.inc", "other/x.inc"), CODE)
    tree = grow(tmp_path / "tree", {"src/a.c": lines, **files})
    snapshot = pack(tree, replace(followed, paths=(b"src", b"vendor/a")), blobs)

    assert paths(blobs, snapshot) == ["src/a.c", "vendor/a/x.inc"]
    assert snapshot.left_out == {INCLUDED_FROM_OUTSIDE: 2}


def test_a_file_that_is_included_from_outside_of_the_named_paths_is_counted(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    tree = grow(tmp_path / "tree", {"src/a.c": '#include "../lib/x.inc"\n', "lib/x.inc": CODE})
    snapshot = pack(tree, replace(followed, paths=(b"src",)), blobs)

    assert paths(blobs, snapshot) == ["src/a.c"]
    assert snapshot.left_out == {INCLUDED_FROM_OUTSIDE: 1}


@pytest.mark.parametrize("name", [".jarvis/x.inc", "../.jarvis/x.h", "link"])
def test_a_file_in_our_own_directory_that_is_included_is_not_checked(
    name: str, tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    code = {"src/a.c": f'#include "{name}"\n', ".jarvis/x.inc": CODE, ".jarvis/x.h": CODE}
    tree = grow(tmp_path / "tree", code)
    (tree / "src/link").symlink_to("../.jarvis/x.inc")
    snapshot = pack(tree, followed, blobs)

    assert snapshot.not_checked == ((b".jarvis/x.h" if name.endswith("h") else b".jarvis/x.inc", INCLUDED_FROM_OWN),)


def test_only_some_excluded_directories_are_listed_by_name(
    tmp_path: Path, grow: Grow, blobs: DirectoryBlobs, followed: Selection
) -> None:
    most = include_closure.LISTED_MAX
    headers = [f"x{number:02}\x1b/a.h" for number in range(most + 5)]
    lines = "".join(f'#include "../{header}"\n' for header in headers)
    tree = grow(tmp_path / "tree", {"src/a.c": lines, **dict.fromkeys(headers, CODE)})
    left_out = pack(tree, replace(followed, exclude=("x*/",)), blobs).left_out

    named = "included from the excluded directory x%02d\\x1b (name it on the command line to scan it)"
    assert left_out == {named % number: 1 for number in range(most)} | {included_from(None): 5}


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
    most = include_closure.LISTED_MAX
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
