"""A crate as a branch: a commit a function, and nothing else of the repository changes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.runs.crate_branch import check_crate_branch, crate_commits, write_branch
from jarvis_workers.errors import UsageError
from tests.support.servers import missing

MODULE = b"//! a.c\n\nuse crate::c::*;\n\nstatic mut n: i32 = 0;\n\npub unsafe fn one() -> i32 {\n    1\n}\n\n"
MODULE += b'/// Two.\n#[no_mangle]\npub unsafe extern "C" fn two() -> i32 {\n    one()\n}\n'
FILES = {"Cargo.toml": b"[package]\n", "src/a.rs": MODULE, "c/odd \xc3\xa9.c".encode("latin-1").decode(): b"int x;\n"}
BRANCH = "jarvis/c2rust"


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", place, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        missing("git")
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.c").write_text("int one(void) { return 1; }\n")
    git(tmp_path, "add", "a.c")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    (tmp_path / "a.c").write_text("edited\n")
    (tmp_path / "new.c").write_text("new\n")
    git(tmp_path, "add", "new.c")
    return tmp_path


def test_functions_are_added_one_by_one() -> None:
    commits = list(crate_commits({**FILES, "src/bin/a.rs": b"fn main() {}\n"}))
    texts = [one.files["src/a.rs"] for one in commits]

    assert [one.message.strip() for one in commits] == [
        "Add the crate without its functions",
        "Convert one to Rust (src/a.rs)",
        "Convert two to Rust (src/a.rs)",
    ]
    assert [(b"fn one" in text, b"fn two" in text) for text in texts] == [(False, False), (True, False), (True, True)]
    assert b"static mut n" in texts[0] and texts[2] == MODULE


def test_a_branch_has_the_crate_and_the_rest_stays(repository: Path) -> None:
    before = git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")
    line = write_branch(repository / "sub" / "a_rs", BRANCH, FILES)
    write_branch(repository / "sub" / "a_rs", BRANCH, {"Cargo.toml": b"new\n"})

    assert line.startswith(f"branch {BRANCH} of {repository}, directory sub/a_rs (commit ")
    assert (git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")) == before
    assert not (repository / "sub").exists()
    assert git(repository, "ls-tree", "-r", "--name-only", BRANCH).splitlines() == ["a.c", "sub/a_rs/Cargo.toml"]
    first = git(repository, "ls-tree", "-rz", "--name-only", f"{BRANCH}~1").split("\0")
    assert set(first) >= {f"sub/a_rs/{name}" for name in FILES}
    assert git(repository, "show", f"{BRANCH}~1:sub/a_rs/src/a.rs").encode() == MODULE
    assert len(git(repository, "log", "--oneline", BRANCH).splitlines()) == 5


def test_a_new_directory_becomes_a_repository(tmp_path: Path) -> None:
    write_branch(tmp_path / "a_rs", BRANCH, FILES)

    assert "Cargo.toml" in git(tmp_path / "a_rs", "ls-tree", "-r", "--name-only", BRANCH).splitlines()


@pytest.mark.parametrize(("branch", "problem"), [("main", "branch main is checked out"), ("a..b", "git")])
def test_a_branch_that_cannot_be_written_is_refused(repository: Path, branch: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_crate_branch(repository, branch)
