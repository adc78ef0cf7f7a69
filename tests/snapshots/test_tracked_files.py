"""A .gitignore decides on untracked files alone: whoever commits code cannot hide it from a scan."""

import os
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.snapshots.entries import Excluded, FileFound, LeftOut
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.walk import walk

WHO = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}
LOCAL_SUBMODULES = ("-c", "protocol.file.allow=always")


def git(place: Path, *command: str) -> None:
    subprocess.run(["git", "-C", place, *command], env=os.environ | WHO, check=True, capture_output=True)


def commit(place: Path) -> Path:
    """Commit all files, ignored ones too."""
    git(place, "init", "-q")
    git(place, "add", "-Af")
    git(place, "commit", "-qm", "1")
    return place


def found(root: Path, selection: Selection) -> list[bytes]:
    return [outcome.path for outcome in walk(root, selection) if isinstance(outcome, FileFound)]


@pytest.fixture
def repository(tmp_path: Path, grow) -> Path:
    """A repository whose .gitignore matches tracked files, and untracked ones beside them."""
    place = tmp_path / "repo"
    tracked = {
        ".gitignore": "evil.c\n/gen/\nlib-*\n*.tmp.c\n",
        "a.c": "",
        "evil.c": "",
        "gen/deep/e.c": "",
        "lib/a.c": "",
    }
    commit(grow(place, tracked | {"lib-x/x.c": ""}))
    grow(place, {"gen/new.c": "", "gen/deep/new.c": "", "b.tmp.c": "", "lib-y/y.c": "", "new.c": ""})
    return place


def test_tracked_files_are_walked_although_gitignore_matches_them(repository: Path, chosen: Selection) -> None:
    outcomes = list(walk(repository, chosen))

    names = [outcome.path for outcome in outcomes if isinstance(outcome, FileFound)]
    assert names == [b"a.c", b"evil.c", b"gen/deep/e.c", b"lib-x/x.c", b"lib/a.c", b"new.c"]
    assert outcomes.count(LeftOut("ignored by .gitignore")) == 3
    assert Excluded(b"lib-y", "ignored by .gitignore") in outcomes


def test_a_subdirectory_of_a_repository_knows_its_tracked_files(repository: Path, chosen: Selection, grow) -> None:
    grow(repository, {"lib/.gitignore": "*.c\n", "lib/new.c": ""})

    assert found(repository / "lib", chosen) == [b"a.c"]
    assert found(repository / "gen", chosen) == [b"deep/e.c", b"deep/new.c", b"new.c"]


def test_jarvisignore_leaves_out_tracked_files_too(repository: Path, chosen: Selection, grow) -> None:
    grow(repository, {".jarvisignore": "evil.c\n/gen/deep/\n"})

    assert found(repository, chosen) == [b"a.c", b"lib-x/x.c", b"lib/a.c", b"new.c"]


@pytest.mark.timing
def test_a_linked_worktree_has_its_own_index(repository: Path, chosen: Selection, tmp_path: Path, grow) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    grow(tmp_path / "other", {"b.tmp.c": ""})

    assert found(tmp_path / "other", chosen) == [b"a.c", b"evil.c", b"gen/deep/e.c", b"lib-x/x.c", b"lib/a.c"]


@pytest.mark.timing
def test_a_submodule_and_a_nested_clone_have_their_own_index(
    repository: Path, chosen: Selection, tmp_path: Path, grow
) -> None:
    source = tmp_path / "source"
    git(tmp_path, "clone", "-q", str(repository), str(source))
    git(tmp_path, "clone", "-q", str(source), str(repository / "clone"))
    git(repository, *LOCAL_SUBMODULES, "submodule", "add", "--force", str(source), "lib-sub")
    grow(repository, {"clone/b.tmp.c": "", "lib-sub/b.tmp.c": ""})
    own = [b"a.c", b"evil.c", b"gen/deep/e.c", b"lib-x/x.c", b"lib/a.c"]

    names = found(repository, chosen)

    assert [name for name in names if name.startswith(b"clone/")] == [b"clone/" + name for name in own]
    assert [name for name in names if name.startswith(b"lib-sub/")] == [b"lib-sub/" + name for name in own]
    assert [name for name in names if b"/" not in name] == [b"a.c", b"evil.c", b"new.c"]


@pytest.mark.timing
@pytest.mark.parametrize("damage", ["index", "no git"])
def test_nothing_is_ignored_where_git_cannot_tell_what_it_tracks(
    repository: Path, chosen: Selection, damage: str
) -> None:
    environ = dict(os.environ)
    if damage == "index":
        (repository / ".git" / "index").write_bytes(b"DIRC\0\0\0\x02\0\0\0\x09nonsense")
    else:
        environ["PATH"] = ""

    names = [outcome.path for outcome in walk(repository, chosen, environ) if isinstance(outcome, FileFound)]

    assert {b"evil.c", b"gen/new.c", b"b.tmp.c", b"lib-y/y.c"} <= set(names)


@pytest.mark.timing
def test_reading_the_index_runs_no_program_that_the_repository_names(
    repository: Path, chosen: Selection, tmp_path: Path
) -> None:
    for name in ("core.fsmonitor", "core.pager", "pager.ls-files", "filter.x.clean", "core.sshCommand"):
        git(repository, "config", name, f"touch {tmp_path}/ran; cat")
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)

    assert b"evil.c" in found(repository, chosen)
    assert not (tmp_path / "ran").exists()


def test_paths_in_any_order_of_bytes_are_matched_with_the_index(tmp_path: Path, chosen: Selection, grow) -> None:
    names = ["a-b/x.c", "a.c", "a/b/c.c", "a/b-c.c", "a0.c", "ab/.c/x.c", "\udcff\n.c", "é/ü.c", "z/a b.c"]
    commit(grow(tmp_path / "repo", {".gitignore": "*\n", **dict.fromkeys(names, "")}))
    grow(tmp_path / "repo", dict.fromkeys(["a/new.c", "a-b/new.c", "é/new.c", "zz.c"], ""))

    assert sorted(found(tmp_path / "repo", chosen)) == sorted(map(os.fsencode, names))


def test_an_index_longer_than_a_pipe_is_read_to_its_end(tmp_path: Path, chosen: Selection, grow) -> None:
    names = [f"d{number % 7}/{'n' * 80}{number:05}.c" for number in range(2_000)]
    commit(grow(tmp_path / "repo", {".gitignore": "d*\n", **dict.fromkeys(names, "")}))
    grow(tmp_path / "repo", {"d3/new.c": "", "d9/new.c": ""})

    assert found(tmp_path / "repo", chosen) == sorted(map(os.fsencode, names))
