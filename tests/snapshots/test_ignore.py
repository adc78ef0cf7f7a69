import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.snapshots.entries import Excluded, FileFound, LeftOut
from jarvis_workers.snapshots.ignore import Globs, IgnorePattern
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.walk import walk
from tests.support.machine import assert_cpu_within, is_within
from tests.support.uncounted import cpu_seconds

PIECES = (
    "a",
    "b",
    "ab",
    "*",
    "**",
    "***",
    "?",
    "[ab]",
    "[!a]",
    "[^b]*",
    "[!-c]",
    "[!-^~-]",
    "a*",
    "*b",
    "a**b",
    "[[:alpha:]]",
    "[]]",
    "\\[x\\]",
)
ODD_PIECES = (
    "[",
    "[z-a]",
    "[!z-a]",
    "[!!-~]",
    "[a[:space:][:punct:][:print:]]",
    "[!/]",
    "[.-0]a",
    "[a-\\b]",
    "[\\]]",
    "[[:nope:]]*",
    "[[:alpha:]-z]",
    "[a-]",
    "[[:alpha:",
    "a\\",
    "*a*b*",
    "a\\ ",
    "#",
    "\\!a",
)
NAMES = ("a", "b", "ab", "a b", "[x]", "]", "é", "a-b", "!a", "#")


def found(root: Path, selection: Selection) -> list[bytes]:
    return [outcome.path for outcome in walk(root, selection) if isinstance(outcome, FileFound)]


def walk_through(root: str) -> None:
    assert found(Path(root), Selection(frozenset({b".c"})))


def test_the_last_line_that_matches_decides_and_deeper_files_win(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(
        tmp_path,
        {
            ".gitignore": "*.c\n!keep.c\n/gen/\n",
            "a.c": "x",
            "keep.c": "x",
            "gen/keep.c": "x",
            "src/gen/keep.c": "x",
            "src/.gitignore": "!b.c\nkeep.c\n",
            "src/b.c": "x",
            "src/keep.c": "x",
        },
    )

    assert found(tmp_path, chosen) == [b"keep.c", b"src/b.c"]
    assert found(tmp_path, replace(chosen, ignore_files=()))[0] == b"a.c"


def test_what_is_ignored_is_said_with_the_file_that_says_so(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(
        tmp_path, {".gitignore": "gen\r\na.c", ".jarvisignore": "\ufeff!a.c\nb.c", "a.c": "", "b.c": "", "gen/c.c": ""}
    )

    outcomes = list(walk(tmp_path, chosen))
    assert Excluded(b"gen", "ignored by .gitignore") in outcomes
    assert LeftOut("ignored by .jarvisignore") in outcomes
    assert found(tmp_path, chosen) == [b"a.c"]


def test_all_but_some_can_be_ignored_at_every_level(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {".gitignore": "*\n!*/\n!*.c\n", "a.c": "", "a.h": "", "src/deep/b.c": "", "src/b.h": ""})

    assert found(tmp_path, chosen) == [b"a.c", b"src/deep/b.c"]


def test_include_narrows_and_exclude_leaves_out(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, dict.fromkeys(["a.c", "src/a.c", "src/a.h", "src/tests/b.c", "lib/src/c.c", "lib/d.h"], ""))

    assert found(tmp_path, replace(chosen, include=("/src/",))) == [b"src/a.c", b"src/a.h", b"src/tests/b.c"]
    assert found(tmp_path, replace(chosen, include=("*.h", "./a.c"))) == [b"a.c", b"lib/d.h", b"src/a.h"]
    assert found(tmp_path, replace(chosen, exclude=("tests/", "*.h", "!d.h"))) == [
        b"a.c",
        b"lib/d.h",
        b"lib/src/c.c",
        b"src/a.c",
    ]
    excluded = list(walk(tmp_path, replace(chosen, exclude=("tests", "a.c"))))
    assert Excluded(b"src/tests", "excluded by --exclude") in excluded
    assert excluded.count(LeftOut("excluded by --exclude")) == 2


def test_an_ignore_file_that_is_a_link_is_not_followed(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {"tree/a.c": "", "rules": "*"})
    (tmp_path / "tree" / ".gitignore").symlink_to("../rules")

    assert found(tmp_path / "tree", chosen) == [b"a.c"]


@pytest.mark.timing
@pytest.mark.parametrize(
    "glob", [b"*a" * 40 + b"*b", b"**/a/" * 40 + b"b", b"a**" * 40 + b"b", b"*/" * 40 + b"**/" * 40 + b"b"]
)
def test_a_hostile_glob_takes_no_time(glob: bytes) -> None:
    globs = Globs([IgnorePattern(glob, "")])
    begin = time.process_time()
    globs.match(b"a" * 200 + b".c")
    globs.match(b"a/" * 2_000 + b"c")

    assert_cpu_within(1, since=begin)


@pytest.mark.sample(1)
@pytest.mark.timing
@pytest.mark.parametrize(
    "content",
    [
        (b"[!a][!b][!c][!d]x" * (150_000 // 170) + b"\n") * 10,
        (b"[!a][!b][!c][!d]x" * 58 + b"\n") * 65,
        (b"[[:alpha:]][!c-d]" * 58 + b"\n") * 65,
        b"[!a][!b]*[c-z]*[!d]**/e/**/[f-]\n" * 1_000,
    ],
)
def test_a_hostile_ignore_file_takes_no_time(tmp_path: Path, grow, chosen: Selection, content: bytes) -> None:
    grow(tmp_path, {".gitignore": content, "a.c": ""})

    assert found(tmp_path, chosen) == [b"a.c"]
    assert is_within(cpu_seconds(walk_through, str(tmp_path)), 1)


@pytest.mark.parametrize("beyond", [b"x" * 1_001, b"x\n" * 1_001, b"#" * 65_536])
def test_an_ignore_file_beyond_the_limits_takes_everything_back(
    tmp_path: Path, grow, chosen: Selection, beyond: bytes
) -> None:
    grow(tmp_path, {".gitignore": "*.h", "src/.gitignore": b"*.c\n" + beyond, "src/a.c": "", "src/b.h": "", "b.h": ""})

    assert found(tmp_path, chosen) == [b"src/a.c", b"src/b.h"]


def test_long_comments_and_blank_lines_count_for_nothing(tmp_path: Path, grow, chosen: Selection) -> None:
    grow(tmp_path, {".gitignore": b"#" * 2_000 + b"\n" * 2_000 + b"a.c", "a.c": "", "b.c": ""})

    assert found(tmp_path, chosen) == [b"b.c"]


def lines() -> st.SearchStrategy[str]:
    body = st.lists(st.sampled_from(PIECES + ODD_PIECES), min_size=1, max_size=4).map("/".join)
    return st.builds(
        "".join,
        st.tuples(st.sampled_from(["", "", "!", "/"]), body, st.sampled_from(["", "", "/", ".c", "/**", "  ", "\r"])),
    )


@st.composite
def trees(draw: st.DrawFn) -> Mapping[str, str]:
    parts = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4)
    files = {"/".join(path) + ".c": "" for path in draw(st.lists(parts, min_size=3, max_size=12))}
    nested = draw(parts)
    ignore = st.lists(lines(), min_size=1, max_size=4).map("\n".join)
    return files | {".gitignore": draw(ignore), "/".join([*nested, ".gitignore"]): draw(ignore)}


def by_git(root: Path) -> list[bytes]:
    git = ["git", "-C", os.fspath(root), "-c", "core.excludesFile=/dev/null"]
    subprocess.run([*git, "init", "-q"], check=True)
    listing = subprocess.run(
        [*git, "ls-files", "-oz", "--exclude-standard", "*.c"], check=True, capture_output=True
    ).stdout
    return sorted(path for path in listing.split(b"\0") if path)


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git itself")
@settings(max_examples=60, deadline=None)
@given(trees())
def test_the_walk_ignores_what_git_ignores(tree: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path, content in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content.encode())

        assert found(root, Selection(frozenset({b".c"}))) == by_git(root)
