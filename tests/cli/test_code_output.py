"""`jarvis code`: a change whose branch could not be written is not done, and no command says so."""

import json

import pytest

from jarvis_workers.runs import wiring
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.store import artifacts
from tests.agents.loop.server import ModelServer, says
from tests.cli.code_repository import Repository, git, patch, repository_of
from tests.cli.commands import Jarvis
from tests.cli.test_code import at_terminal

EDIT, SAYS = patch("return 1;", "return 2;"), says("Return two")


@pytest.fixture
def repository(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return repository_of(jarvis, monkeypatch)


@pytest.mark.slow
def test_a_branch_that_could_not_be_written_is_said_with_exit_3(repository: Repository) -> None:
    git(repository.top, "branch", "jarvis")
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        ended = repository.code("-q")
        waited, report = (repository.jarvis("runs", word, "last") for word in ("wait", "report"))
        git(repository.top, "branch", "-D", "jarvis")
        again = repository.jarvis("runs", "report", "last", "--json")

    assert (ended.code, waited.code, report.code, again.code) == (3, 3, 3, 0)
    for line in (ended.err, waited.err, report.err):
        assert "its branch and worktree could not be written: git: error: cannot lock ref" in line
        assert f"fix this, then run: jarvis runs report {repository.run()}" in line
        assert "jarvis code accept" not in line
    assert json.loads(again.out)["answer"]["branch"] == repository.branch


def test_a_worktree_that_could_not_be_written_is_said_with_exit_3(repository: Repository) -> None:
    data = repository.jarvis.settings.data_dir
    data.mkdir(exist_ok=True)
    (data / "worktrees").write_text("")
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        ended = repository.code()

    assert (ended.code, ended.out.partition("\n")[0]) == (3, "Return two")
    assert f"could not be written: {data / 'worktrees'}: File exists; fix this, then run: jarvis" in ended.err


@pytest.mark.slow
def test_no_person_is_asked_to_accept_a_change_without_a_branch(repository: Repository) -> None:
    git(repository.top, "branch", "jarvis")
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server, code={"confirm": True})
        words = ("code", "-f", repository.top.parent / "settings.yaml", "-r", "Return two")
        assert at_terminal(repository.jarvis, "y\n", *words) == 3


@pytest.mark.slow
def test_a_list_does_not_read_the_changed_files(repository: Repository) -> None:
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        repository.code("-q")
    settings = repository.jarvis.settings
    with wiring.store_of(settings) as store, store.read() as session:
        (changes,) = artifacts.blobs_named(session, [repository.run()], "changes").values()
    blobs_of(settings).delete(changes)
    listed = json.loads(repository.jarvis("code", "list", "--json").out)

    (row,) = listed
    commit = git(repository.top, "rev-parse", repository.branch).strip()
    names = ("run", "state", "branch", "commit", "subject", "decision")
    assert [row[name] for name in names] == [repository.run(), "done", repository.branch, commit, "Return two", ""]
