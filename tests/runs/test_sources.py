"""What `-p` can name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import ADDRESS, open_revision, open_source, unchanged_since
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.temporary import temporary_directory


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two commits; the first is tagged `old`, and a hook waits in it."""
    place = tmp_path / "repo"
    place.mkdir()
    for number, (text, tag) in enumerate((("int a;\n", "old"), ("int b;\n", "new"))):
        (place / "a.c").write_text(text)
        commands = (["init", "-q"], ["add", "-A"], ["commit", "-qm", str(number)], ["tag", tag])
        for command in commands if number == 0 else commands[1:]:
            git(place, *command)
    return place


def git(place: Path, *command: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}
    done = subprocess.run(
        ["git", "-C", place, *command], env=os.environ | who, capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def test_a_directory_is_itself(tmp_path: Path) -> None:
    with open_source(str(tmp_path)) as source:
        assert source == (tmp_path, os.fsencode(tmp_path), "directory", None)


@pytest.mark.timing
def test_a_revision_is_fetched_named_by_its_commit_and_deleted_afterwards(repository: Path) -> None:
    with open_source(f"file://{repository}@old") as source:
        assert (source.path / "a.c").read_text() == "int a;\n"
        assert source.root.decode() == f"file://{repository}@{git(repository, 'rev-parse', 'old')}"
    assert not source.path.exists()


def test_without_a_revision_it_is_the_newest(repository: Path) -> None:
    with open_source(f"file://{repository}") as source:
        assert (source.path / "a.c").read_text() == "int b;\n"
        assert source.branch is None
    main = git(repository, "symbolic-ref", "--short", "HEAD")
    with open_source(f"file://{repository}@{main}") as source:
        assert source.branch == main


@pytest.mark.parametrize(
    ("named", "url", "revision"),
    [
        ("https://host/a/b.git", "https://host/a/b.git", None),
        ("https://host/a/b.git@v1.2", "https://host/a/b.git", "v1.2"),
        ("ssh://git@host/a/b@feature/x", "ssh://git@host/a/b", "feature/x"),
        ("ssh://git@host/a/b", "ssh://git@host/a/b", None),
        ("git@host:a/b.git@main", "git@host:a/b.git", "main"),
    ],
)
def test_an_address_is_parted_from_its_revision(named: str, url: str, revision: str | None) -> None:
    match = ADDRESS.match(named)

    assert match
    assert (match["url"], match["revision"]) == (url, revision)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("https://me:secret@host/a.git", "JARVIS_GIT_TOKEN"),
        ("https://token@host/a.git", "JARVIS_GIT_TOKEN"),
        ("file:///nowhere/at/all@main", "git: fatal: "),
        ("file:///tmp@--upload-pack=x", "is not a revision"),
    ],
)
def test_what_cannot_be_had_is_one_line_without_secrets(named: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as problem, open_source(named):
        pass
    assert "secret" not in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.timing
def test_the_token_reaches_git_in_its_environment_alone(tmp_path: Path, repository: Path) -> None:
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\nenv > {tmp_path}/env; echo "$@" >> {tmp_path}/args; test "$1" = init\n')
    spy.chmod(0o755)
    environ = {"PATH": f"{spy.parent}:{os.environ['PATH']}", "JARVIS_GIT_TOKEN": "hush", "OPENAI_API_KEY": "other"}

    with pytest.raises(UsageError), open_source("https://host.example/a.git", environ):
        pass
    assert "hush" not in (tmp_path / "args").read_text()
    assert "http.https://host.example/.extraHeader" in (tmp_path / "env").read_text()
    assert "other" not in (tmp_path / "env").read_text()


def files_in(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.iterdir() if path.is_file()}


@pytest.mark.timing
def test_another_revision_of_a_directory_is_checked_out_elsewhere_and_deleted(repository: Path) -> None:
    (repository / "a.c").write_text("int mine;\n")
    commit = git(repository, "rev-parse", "old")

    with open_revision(str(repository), "old") as revision:
        assert files_in(revision.source.path) == {"a.c": "int a;\n"}
        assert revision.source.root == f"{repository}@{commit}".encode()
        assert revision.says == f"old ({commit[:12]})"
    assert not revision.source.path.exists()
    assert (repository / "a.c").read_text() == "int mine;\n"
    assert git(repository, "status", "--short") == "M a.c"


@pytest.mark.parametrize("revision", ["new~1", "HEAD^", "old^{commit}"])
def test_a_revision_is_whatever_git_calls_one(repository: Path, revision: str) -> None:
    with open_revision(str(repository), revision) as found:
        assert files_in(found.source.path) == {"a.c": "int a;\n"}


@pytest.mark.timing
def test_a_directory_within_a_repository_is_the_same_directory_of_the_revision(repository: Path) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / "b.c").write_text("int b;\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "sub")

    with open_revision(str(repository / "sub"), "HEAD") as found:
        assert files_in(found.source.path) == {"b.c": "int b;\n"}
    with open_revision(str(repository / "sub" / "b.c"), "HEAD") as found:
        assert found.source.path.read_text() == "int b;\n"
    with open_revision(str(repository / "sub"), "old") as found:
        assert files_in(found.source.path) == {}


@pytest.mark.timing
def test_a_link_of_the_revision_does_not_lead_out_of_it(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s.c").write_text("int s;\n")
    (repository / "sub").symlink_to(tmp_path / "secret")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "link")
    (repository / "sub").unlink()
    (repository / "sub").mkdir()

    with open_revision(str(repository / "sub"), "HEAD") as found:
        assert files_in(found.source.path) == {}


@pytest.mark.timing
def test_renamed_files_are_known_by_both_names(repository: Path) -> None:
    git(repository, "mv", "a.c", "moved \n.c")
    git(repository, "commit", "-qm", "moved")

    with open_revision(str(repository), "new") as found:
        assert found.renamed == {b"a.c": b"moved \n.c"}


def test_an_address_has_other_revisions_too(repository: Path) -> None:
    with open_revision(f"file://{repository}@new", "old") as found:
        assert files_in(found.source.path) == {"a.c": "int a;\n"}


@pytest.mark.timing
def test_what_has_not_changed_is_known_by_path_and_hash(repository: Path) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / os.fsdecode(b"\xff \n.c")).write_text("int b;\n")
    (repository / "link.c").symlink_to("a.c")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "sub")

    whole, part = unchanged_since(str(repository), "HEAD"), unchanged_since(str(repository / "sub"), "HEAD")
    one = unchanged_since(str(repository / "a.c"), "HEAD")

    assert set(whole.blobs) == {b"a.c", b"sub/\xff \n.c"}
    assert set(part.blobs) == {b"\xff \n.c"}
    assert one.holds(b"a.c", b"int b;\n")
    assert part.reason == "not changed since HEAD"


@pytest.mark.parametrize(
    ("revision", "says"),
    [("nosuch", '"nosuch" is not a revision of '), ("-x", '"-x" is not a revision'), (" ", '" " is not a revision')],
)
def test_a_bad_revision_is_one_line(repository: Path, revision: str, says: str) -> None:
    for ask in (opened, unchanged_since):
        with pytest.raises(UsageError, match=says) as problem:
            ask(str(repository), revision)
        assert "\n" not in str(problem.value)


def opened(named: str, revision: str) -> str:
    with open_revision(named, revision) as found:
        return found.says


@pytest.mark.timing
def test_where_there_is_no_repository_one_line_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository"):
        unchanged_since(str(tmp_path), "HEAD")
    with pytest.raises(UsageError, match="no such file or directory"):
        unchanged_since(str(tmp_path / "gone"), "HEAD")
    with pytest.raises(UsageError, match="for a URL use --baseline"):
        unchanged_since("https://host/a.git", "HEAD")


@pytest.mark.parametrize("name", ["plain", '"#odd\n\\', "# :x"])
def test_a_repository_may_stand_anywhere(repository: Path, name: str) -> None:
    place = repository.rename(repository.parent / name)

    with open_revision(str(place), "old") as found:
        assert files_in(found.source.path) == {"a.c": "int a;\n"}


@pytest.mark.timing
def test_programs_that_a_repository_names_are_not_run(repository: Path, tmp_path: Path) -> None:
    spy = f"touch {tmp_path}/ran; cat"
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.external"):
        git(repository, "config", name, spy)
    (repository / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)

    unchanged_since(str(repository), "old")
    with open_revision(str(repository), "old") as found:
        assert files_in(found.source.path) == {"a.c": "int a;\n"}
    assert not (tmp_path / "ran").exists()


@pytest.mark.timing
def test_a_branch_without_a_commit_knows_of_no_renames(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "fresh")

    with open_revision(str(repository), "old") as found:
        assert (files_in(found.source.path), found.renamed) == ({"a.c": "int a;\n"}, {})


@pytest.mark.timing
def test_a_repository_that_claims_another_working_tree_is_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    git(repository, "config", "core.worktree", str(tmp_path / "other"))

    with pytest.raises(UsageError, match=r"repo is not in the working tree of .*other"):
        unchanged_since(str(repository), "old")


@pytest.mark.timing
def test_a_bare_repository_is_one_line(repository: Path) -> None:
    git(repository, "config", "core.bare", "true")

    with pytest.raises(UsageError, match="git: fatal: this operation must be run in a work tree"):
        unchanged_since(str(repository), "old")


@pytest.mark.timing
def test_without_git_one_line_says_what_to_do(repository: Path) -> None:
    with pytest.raises(UsageError, match="git is not installed; install it, or scan a directory"):
        unchanged_since(str(repository), "old", {"PATH": ""})


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """A repository of six objects whose tree has 40^5 files."""
    place = tmp_path / "bomb"
    subprocess.run(["git", "init", "-q", place], check=True)
    kind, mode, name = "blob", "100644", made(place, "hash-object", "-w", "--stdin", given=b"int a;\n")
    for _ in range(5):
        lines = "".join(f"{mode} {kind} {name}\t{number:02}{'.c' if kind == 'blob' else ''}\n" for number in range(40))
        kind, mode, name = "tree", "040000", made(place, "mktree", given=lines.encode())
    commit = made(place, "commit-tree", "-m", "1", name)
    made(place, "update-ref", "HEAD", commit)
    return place


def made(place: Path, *command: str, given: bytes = b"") -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x"}
    done = subprocess.run(
        ["git", "-C", place, *command], env=os.environ | who, input=given, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


REFUSED = """
import resource, sys
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.sources import open_source
try:
    with open_source(sys.argv[1]):
        pass
except UsageError as problem:
    print(problem)
# RUSAGE_SELF would count what the process was forked from.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print((peak + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024)
"""


@pytest.mark.timing
@pytest.mark.slow
def test_a_tree_of_a_hundred_million_files_is_refused_in_little_time_and_memory(bomb: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, f"file://{bomb}"], capture_output=True, text=True, check=True, timeout=120
    )

    says, megabytes = done.stdout.splitlines()
    assert "has more than 2,000,000 files; scan a directory of a clone, or raise scan.git_max_files" in says
    assert int(megabytes) < 300


@pytest.mark.timing
def test_revisions_and_changed_files_of_a_directory_have_the_same_bounds(bomb: Path) -> None:
    few = TreeBounds(files=1_000)

    with pytest.raises(UsageError, match="has more than 1,000 files"), open_revision(str(bomb), "HEAD", bounds=few):
        pass
    with pytest.raises(UsageError, match="has more than 1,000 files"):
        unchanged_since(str(bomb), "HEAD", bounds=few)


@pytest.mark.timing
def test_the_bytes_of_a_tree_are_bounded_although_they_are_of_one_blob(tmp_path: Path) -> None:
    place = tmp_path / "zeros"
    place.mkdir()
    git(place, "init", "-q")
    for number in range(10):
        (place / f"{number}.c").write_bytes(bytes(1_000_000))
    git(place, "add", "-A")
    git(place, "commit", "-qm", "1")

    def fetched(most: int) -> set[str]:
        with open_source(f"file://{place}", bounds=TreeBounds(bytes=most)) as source:
            return {path.name for path in source.path.glob("*.c")}

    with pytest.raises(UsageError, match=r"has more than 9 MB; .* raise scan.git_max_mb"):
        fetched(9_000_000)
    assert len(fetched(10_000_000)) == 10


KILLED = """
import os, signal, sys
from jarvis_workers.runs.sources import open_source
with open_source(sys.argv[1]) as source:
    print(source.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.timing
def test_the_next_command_removes_the_directory_of_a_killed_one(repository: Path, tmp_path: Path) -> None:
    environ = os.environ | {"TMPDIR": str(tmp_path)}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, f"file://{repository}"], env=environ, capture_output=True, text=True, check=False
    )
    assert Path(killed.stdout.strip()).is_dir()

    with (
        temporary_directory("jarvis-source", tmp_path) as mine,
        temporary_directory("jarvis-source", tmp_path) as other,
    ):
        assert sorted(tmp_path.glob("*jarvis-source-*")) == sorted([mine, other])
    assert list(tmp_path.glob("*jarvis-source-*")) == []
