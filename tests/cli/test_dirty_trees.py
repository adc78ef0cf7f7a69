"""A run over files that are not those of the commit says so: in lists, labels, comparisons and SARIF."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import COPY, Jarvis


def git(place: Path, *words: str) -> str:
    own = {f"GIT_{role}_{part}": "a@example" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    environ = {**os.environ, **own, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True, env=environ)
    return done.stdout.strip()


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    tree = jarvis.tree("tree", {"a.c": COPY, "lib/b.c": "int b;\n", "README": "text\n", "vendor/v.c": "int v;\n"})
    git(tree, "init", "-q", "-b", "main")
    git(tree, "remote", "add", "origin", "https://host.example/team/tree.git")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "first")
    return tree


def scanned(jarvis: Jarvis, *paths: object) -> dict[str, object]:
    assert jarvis("sec", "fast", *(paths or ["tree"]), "-o", "r.sarif").code == 0
    (run, *_) = json.loads(jarvis("runs", "list", "--json").out)
    return run


@pytest.mark.parametrize("small_files", ["200", pytest.param("0", marks=pytest.mark.slow)])
def test_a_clean_tree_has_its_commit(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch, small_files: str
) -> None:
    monkeypatch.setenv("JARVIS_SCAN__SMALL_FILES", small_files)
    (tree / "README").write_text("more text\n")
    (tree / "log.txt").write_text("untracked, and not scanned\n")
    run = scanned(jarvis)

    assert run["labels"] == {"branch": "main", "commit": git(tree, "rev-parse", "HEAD")} and run["mark"] == ""


def edit(tree: Path) -> None:
    (tree / "a.c").write_text(COPY + "\n")


def add(tree: Path) -> None:
    (tree / "new.c").write_text("int n;\n")


def stage(tree: Path) -> None:
    edit(tree)
    git(tree, "add", ".")


def delete(tree: Path) -> None:
    (tree / "lib" / "b.c").unlink()


OTHERS = (pytest.param(change, marks=pytest.mark.slow) for change in (add, stage, delete))


@pytest.mark.slow
@pytest.mark.parametrize("change", [edit, *OTHERS])
def test_a_changed_tree_is_labelled(jarvis: Jarvis, tree: Path, change: Callable[[Path], None]) -> None:
    clean, commit = scanned(jarvis), git(tree, "rev-parse", "HEAD")
    change(tree)
    dirty = scanned(jarvis)

    assert dirty["labels"] == {"branch": "main", "commit": f"{commit}+dirty", "dirty": "true"}
    assert f"main {commit[:9]}+dirty" in jarvis("runs", "list").out
    assert f"checkout      main {commit[:9]}+dirty" in jarvis("runs", "show", "last").out
    compared = jarvis("runs", "diff", clean["id"], "last").out
    assert f"main {commit[:9]}, " in compared and f"main {commit[:9]}+dirty" in compared
    (provenance,) = json.loads((jarvis.place / "r.sarif").read_text())["runs"][0]["versionControlProvenance"]
    assert (provenance["revisionId"], provenance["properties"]) == (commit, {"dirty": True})


@pytest.mark.slow
def test_a_hostile_repository_runs_nothing(jarvis: Jarvis, tree: Path) -> None:
    (tree / ".gitattributes").write_text("*.c filter=evil\n")
    for name in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.fsmonitor"):
        git(tree, "config", name, f"touch {jarvis.place / 'ran'}; cat")
    edit(tree)

    assert scanned(jarvis)["mark"] == "+dirty"
    assert not (jarvis.place / "ran").exists()


@pytest.mark.slow
def test_without_git_it_is_not_known_whether_a_tree_is_changed(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    assert scanned(jarvis)["labels"]["dirty"] == "unknown"
