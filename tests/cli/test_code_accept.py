"""`jarvis code accept`: no file of the user is lost, and what comes along is said."""

import pytest

from tests.agents.loop.server import ModelServer, calls, says
from tests.cli.code_repository import MAIN, Repository, git, patch, repository_of, snapshot
from tests.cli.commands import Jarvis
from tests.cli.test_code import at_terminal

KEEP = calls("rewrite", files=[{"path": "keep.o", "content": "theirs\n"}])
FILLER = "/* */\n" * 10
SECOND = patch("one() - 1", "one() - 2")


@pytest.fixture
def repository(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return repository_of(jarvis, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--with-changes",)], ids=["merge", "apply"])
def test_an_ignored_file_is_not_overwritten(repository: Repository, words: tuple[str, ...]) -> None:
    (repository.top / ".gitignore").write_text("main\n*.o\n")
    if not words:
        git(repository.top, "commit", "-qam", "ignore")
    (repository.top / "keep.o").write_text("mine\n")
    with ModelServer(KEEP, says("Keep it")) as server:
        repository.settings(server)
        ended = repository.code(*words)
    before = snapshot(repository.top)
    refused = repository.jarvis("code", "accept", "last", "--force")

    assert (ended.code, refused.code, snapshot(repository.top)) == (0, 2, before)
    assert "the change would overwrite keep.o, which HEAD does not track" in refused.line
    (repository.top / "keep.o").unlink()
    assert repository.jarvis("code", "accept", "last").code == 0
    assert (repository.top / "keep.o").read_text() == "theirs\n"


@pytest.mark.slow
def test_an_untracked_file_beside_an_overlap_is_not_overwritten(repository: Repository) -> None:
    with ModelServer(KEEP, patch("return 1;", "return 2;"), says("Keep it")) as server:
        repository.settings(server)
        repository.code()
    (repository.top / "main.c").write_text(f"{MAIN}/* mine */\n")
    (repository.top / "keep.o").write_text("mine\n")
    before = snapshot(repository.top)
    refused = repository.jarvis("code", "accept", "last")

    assert (refused.code, snapshot(repository.top)) == (2, before)
    assert "the change would overwrite keep.o, which HEAD does not track" in refused.line


@pytest.mark.slow
def test_a_rejected_change_does_not_come_along_unasked(repository: Repository) -> None:
    first, second = two_changes(repository)
    rejected = repository.jarvis("code", "reject", first)
    refused = repository.jarvis("code", "accept", second)
    head = git(repository.top, "log", "--format=%s")
    accepted = repository.jarvis("code", "accept", second, "--force")

    assert (rejected.code, refused.code, accepted.code) == (0, 2, 0)
    assert f"run {second} stands on run {first}, which is rejected and would come along" in refused.line
    assert head == "first\n"
    assert git(repository.top, "log", "--format=%s") == "Adapt main\nReturn two\nfirst\n"


@pytest.mark.slow
def test_a_change_that_comes_along_is_named(repository: Repository) -> None:
    first, second = two_changes(repository)
    accepted = repository.jarvis("code", "accept", second)

    assert accepted.code == 0
    assert accepted.line.endswith(f", with the change of run {first}")
    assert repository.jarvis("code", "accept", first).code == 0
    assert git(repository.top, "log", "--format=%s") == "Adapt main\nReturn two\nfirst\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--with-changes",), ()], ids=["copied", "overlap"])
def test_a_change_that_stands_on_an_applied_one_is_applied_without_it(
    repository: Repository, words: tuple[str, ...]
) -> None:
    (repository.top / "main.c").write_text(f"{MAIN}{FILLER}")
    git(repository.top, "commit", "-qam", "fill")
    (repository.top / "main.c").write_text(f"{MAIN}{FILLER}/* mine */\n")
    first, second = two_changes(repository, *words)
    with_it = repository.jarvis("code", "accept", first), repository.jarvis("code", "accept", second)
    main = (repository.top / "main.c").read_text()

    assert [ended.code for ended in with_it] == [0, 0], [ended.err for ended in with_it]
    assert "with the change of" not in with_it[1].line
    assert "one() - 2" in main and main.endswith("/* mine */\n")
    assert git(repository.top, "log", "--format=%s") == "fill\nfirst\n"


@pytest.mark.slow
def test_a_change_that_came_along_is_not_applied_again(repository: Repository) -> None:
    (repository.top / "mine.c").write_text("int mine;\n")
    first, second = two_changes(repository, "--with-changes")
    accepted = repository.jarvis("code", "accept", second)
    again = repository.jarvis("code", "accept", first)

    assert (accepted.code, again.code) == (0, 2)
    assert accepted.line.endswith(f", with the change of run {first}")
    assert again.line == f"jarvis: run {first} is accepted already"


def two_changes(repository: Repository, *more: str) -> tuple[str, str]:
    """Make two changes in a session, the second on top of the first, and return their runs."""
    with ModelServer(patch("return 1;", "return 2;"), says("Return two"), SECOND, says("Adapt main")) as server:
        repository.settings(server)
        words = ("code", "-f", repository.top.parent / "settings.yaml", *more)
        assert at_terminal(repository.jarvis, "Return two\n\nAnd main\n\n\n", *words) == 0
    rows = git(repository.top, "for-each-ref", "--format=%(subject)|%(refname:short)", "refs/heads/jarvis").split("\n")
    found = dict(row.split("|jarvis/code-") for row in rows if row)
    return found["Return two"], found["Adapt main"]


@pytest.mark.slow
def test_an_untracked_file_that_was_copied_is_changed(repository: Repository) -> None:
    (repository.top / "new.c").write_text("int mine;\n")
    with ModelServer(patch("mine", "ours", "new.c"), says("Rename it")) as server:
        repository.settings(server)
        repository.code("--with-changes")
    accepted = repository.jarvis("code", "accept", "last")

    assert (accepted.code, (repository.top / "new.c").read_text()) == (0, "int ours;\n")
    assert git(repository.top, "status", "--porcelain") == "?? new.c\n"
