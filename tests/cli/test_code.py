"""`jarvis code`: an agent's edits become a commit on a branch of its own, and nothing of the user's tree changes."""

import fcntl
import io
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.assistant.chat.repository_lock import lock_path
from jarvis_workers.assistant.code.code_agent import BUILT_IN, OPTIONAL
from tests.agents.loop.server import FAULTS, ModelServer, Step, calls, says
from tests.cli.code_repository import MAIN, MAKEFILE, NAMED, Repository, git, patch, repository_of, snapshot
from tests.cli.commands import Jarvis
from tests.support.settings_files import trust_file, write_settings

# Names of tools that are there without a sandbox and a search endpoint.
REQUIRED = sorted({*BUILT_IN} - OPTIONAL)
SAYS = says("Return two\n\nmain.c:1 returns 2 now.")
EDIT = patch("return 1;", "return 2;")


@pytest.fixture
def repository(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return repository_of(jarvis, monkeypatch)


def test_a_change_is_a_commit_in_a_worktree_of_its_own_and_the_dirty_tree_stays(repository: Repository) -> None:
    (repository.top / "main.c").write_text("int main(void) { broken\n")
    (repository.top / "new.c").write_text("int untracked;\n")
    git(repository.top, "add", "main.c")
    hook = repository.top / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {repository.top.parent}/hooked\n")
    hook.chmod(0o755)
    before = snapshot(repository.top)
    with ModelServer(calls("read_code", path="main.c"), EDIT, SAYS) as server:
        repository.settings(server)
        ended = repository.code("--gate", "make test; test $? = 2", "--prefix", "[x] ", "--suffix", " (ai)")

    assert (ended.code, snapshot(repository.top)) == (0, before)
    assert "Return two\n\nmain.c:1 returns 2 now.\n\nmain.c: modified, +1 -1\n@@" in ended.out
    assert f"jarvis code accept {repository.run()}" in ended.err
    assert "the gate passed (attempt 1)" in ended.err
    assert "2 uncommitted files are not part of it" in ended.err
    assert "linters for the changed files: clang-tidy main.c --" in ended.err
    assert git(repository.top, "log", "--format=%s|%an|%ae|%b", "trunk.." + repository.branch).strip() == (
        "[x] Return two (ai)|Ann Example|ann@example.org|main.c:1 returns 2 now."
    )
    assert git(repository.top, "diff", "--stat", "trunk", repository.branch).split("\n")[0].strip() == "main.c | 2 +-"
    worktree = repository.jarvis.settings.data_dir / "worktrees" / repository.run()
    assert (worktree / "main.c").read_text() == MAIN.replace("return 1", "return 2")
    assert (worktree / "link").is_symlink()
    assert not (repository.top.parent / "hooked").exists()


PATHS = 'echo in "$PWD" "$HOME/x" "$TMPDIR/y" "$(dirname "$PWD")"; make -s test'


def test_a_failing_gate_is_repaired(repository: Repository) -> None:
    repaired = patch("one() - 1", "one() - 2")
    with ModelServer(EDIT, SAYS, repaired, says("Return two\n\nmain as well.")) as server:
        repository.settings(server, code={"gate": PATHS})
        ended = repository.code("--json")

    told = server.requests[2]["messages"][-1]["content"]
    answer = json.loads(ended.out)["answer"]
    assert ended.code == 0
    assert "must succeed failed (1 of 3 attempts)" in told
    assert "Error 1" in told
    assert "in . ~/x /tmp/y ..\n" in told
    assert "jarvis-code" not in told.replace(PATHS, "")
    assert answer["gate"] == {"command": PATHS, "runs": 2}
    assert answer["statistics"] == {
        "lines_added": 2,
        "lines_removed": 2,
        "code_modifications": 2,
        "commits_made": 1,
        "commits_accepted": 0,
    }
    assert (answer["branch"], answer["state"]) == (repository.branch, "done")


@pytest.mark.slow
def test_a_gate_that_fails_to_the_end_refuses_the_change_and_keeps_the_branch(repository: Repository) -> None:
    before = snapshot(repository.top)
    with ModelServer(EDIT, SAYS, says("I see no fault.")) as server:
        repository.settings(server)
        ended = repository.code("--gate", "make test", "--attempts", "2")
        again = repository.jarvis("code", "accept", "last")

    assert (ended.code, snapshot(repository.top)) == (1, before)
    assert "refused; 1 file, +1 -1; the gate failed 2 times: make test:" in ended.err
    assert f"see: jarvis code diff {repository.run()}" in ended.err
    assert git(repository.top, "log", "-1", "--format=%s", repository.branch) == "Unfinished: I see no fault.\n"
    assert (again.code, "is not done: the gate failed 2 times" in again.line) == (2, True)
    assert repository.jarvis("runs", "wait", "last").code == 1
    assert repository.jarvis("code", "accept", "last", "--force").code == 0
    assert (repository.top / "main.c").read_text() == MAIN.replace("return 1", "return 2")


@pytest.mark.slow
def test_an_agent_that_is_stopped_leaves_what_it_did_on_the_branch(repository: Repository) -> None:
    with ModelServer(EDIT, FAULTS["401"]) as server:
        repository.settings(server)
        ended = repository.code()

    assert (ended.code, ended.out.partition("\n")[0]) == (3, "main.c: modified, +1 -1")
    assert "stopped: refused" in ended.err
    assert git(repository.top, "log", "-1", "--format=%s", repository.branch) == "Unfinished: Return two\n"


@pytest.mark.slow
def test_a_change_may_take_many_calls_and_a_part_may_be_given_to_another_agent(repository: Repository) -> None:
    names = "abcdefghijkl"
    part = "Write the files a to l"
    writes = [calls("rewrite", files=[{"path": f"{name}.c", "content": f"int {name};\n"}]) for name in names]
    first = writes[0].expecting(lambda body: body["messages"][-1]["content"].partition("\n\n")[2].startswith(part))
    last = EDIT.expecting(lambda body: "they are there" in body["messages"][-1]["content"])
    steps = [calls("sub_code_agent", task=part), first, *writes[1:], says("Done: they are there."), last, SAYS]
    with ModelServer(*steps) as server:
        repository.settings(server)
        ended = repository.code("--json")

    answer = json.loads(ended.out)["answer"]
    assert ended.code == 0
    assert "sub_code_agent" not in {tool["function"]["name"] for tool in server.requests[1]["tools"]}
    assert (answer["statistics"]["code_modifications"], answer["rounds"]) == (13, len(steps))
    assert git(repository.top, "diff", "--name-only", "HEAD", repository.branch).split() == sorted(
        [*(f"{name}.c" for name in names), "main.c"]
    )


def test_a_model_without_native_calls_edits_by_blocks(repository: Repository) -> None:
    def answer(body: Any) -> Step:
        nonce = re.findall(r"<PATCH (\w+)>", body["messages"][1]["content"])[0]
        lines = f"FILE {nonce} main.c\nSEARCH {nonce}\nint one(void) {{ return 1; }}\nREPLACE {nonce}\nint one(void);\n"
        block = says(f"Declare it.\n<PATCH {nonce}>\n{lines}</PATCH {nonce}>")
        return SAYS if len(body["messages"]) > 2 else block

    with ModelServer(forever=answer) as server:
        repository.settings(server, models={"l": {"model": "m", "base_url": server.url, "api_key": "k"}})
        ended = repository.code()

    assert ended.code == 0
    assert "tools" not in server.requests[0]
    assert git(repository.top, "show", f"{repository.branch}:main.c") == MAIN.replace(
        "(void) { return 1; }", "(void);", 1
    )


@pytest.mark.slow
def test_a_run_pauses_at_its_budget_and_goes_on_with_more(repository: Repository) -> None:
    with ModelServer(
        forever=lambda body: [EDIT, SAYS][sum(one["role"] == "assistant" for one in body["messages"])]
    ) as server:
        repository.settings(server)
        paused = repository.code("--budget", "1500tok")
        words = ("code", "-f", repository.top.parent / "settings.yaml", "-n", "--restore-session")
        both = repository.jarvis(*words, "-r", "Another")
        unfinished = repository.jarvis("code", "accept", "last")
        ended = repository.jarvis(*words, "--budget", "900ktok")

    assert (both.code, "which has its own task: leave -r out" in both.line) == (2, True)
    assert (unfinished.code, "continue with: jarvis runs resume" in unfinished.line) == (2, True)
    assert (paused.code, paused.out) == (3, "")
    assert "paused" in paused.err
    assert "continue with: jarvis runs resume" in paused.err
    assert (ended.code, git(repository.top, "log", "-1", "--format=%s", repository.branch)) == (0, "Return two\n")


@pytest.mark.slow
def test_nothing_changed_is_no_branch(repository: Repository) -> None:
    with ModelServer(says("It returns two already.")) as server:
        repository.settings(server)
        ended = repository.code("--gate", "true")

    assert (ended.code, ended.out) == (0, "It returns two already.\n")
    assert "nothing changed; the gate passed (attempt 1)" in ended.err
    assert git(repository.top, "branch", "--list", "jarvis/*") == ""
    assert "changed nothing" in repository.jarvis("code", "accept", "last").line


@pytest.mark.slow
def test_a_gate_may_write_in_every_directory_of_its_copy(repository: Repository) -> None:
    (repository.top / "sub").mkdir()
    (repository.top / "sub" / "a.c").write_text("int a;\n")
    git(repository.top, "add", "sub")
    git(repository.top, "commit", "-qm", "second")
    with ModelServer(says("It returns two already.")) as server:
        repository.settings(server)
        ended = repository.code("--gate", "touch sub/b.c && echo >> sub/a.c", "--attempts", "1")

    assert (ended.code, "the gate passed" in ended.err) == (0, True)
    assert (repository.top / "sub" / "a.c").read_text() == "int a;\n"


def test_a_gate_that_fails_on_unchanged_sources_refuses_the_run(repository: Repository) -> None:
    with ModelServer(says("It returns two already.")) as server:
        repository.settings(server)
        ended = repository.code("--gate", "false", "--attempts", "1")

    assert (ended.code, "refused; nothing changed; the gate failed once: false" in ended.err) == (1, True)
    assert git(repository.top, "branch", "--list", "jarvis/*") == ""


@pytest.mark.slow
def test_killed_in_the_middle_a_run_goes_on_to_the_same_commit(repository: Repository) -> None:
    steps = [EDIT, patch("one() - 1", "one() - 2"), SAYS]
    reached: list[int] = []

    def answer(body: Any) -> Step:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        if done == 2 and not reached:
            reached.append(done)
            os.kill(process.pid, signal.SIGKILL)
        return steps[done]

    with ModelServer(forever=answer) as server:
        repository.settings(server)
        words = ("code", "-f", repository.top.parent / "settings.yaml", "-n", "-r", "Return two", "--gate", "make test")
        process = repository.jarvis.start(*words, stderr=subprocess.DEVNULL)
        assert process.wait(60) == -signal.SIGKILL
        assert git(repository.top, "branch", "--list", "jarvis/*") == ""
        asked = len(server.requests)
        ended = repository.jarvis(*words[:4], "--restore-session", "--json")
        answer_1 = json.loads(ended.out)["answer"]
        assert len(server.requests) == asked + 1
        repository.jarvis("code", "reject", "last")
        again = json.loads(repository.jarvis("runs", "report", "last", "--json").out)["answer"]
        assert (again["branch"], again["commit"]) == (None, None)
        data = repository.jarvis.settings.data_dir

    assert ended.code == 0
    assert answer_1["statistics"]["code_modifications"] == 2
    assert commit_again(repository, data, answer_1["branch"]) == answer_1["commit"]


def commit_again(repository: Repository, data: Path, branch: str) -> str:
    """Write the branch of a change again, as another process would, and return its commit."""
    from jarvis_workers.assistant.chat.code_branches import find_code_run, publish_change, require_change
    from jarvis_workers.runs import wiring
    from jarvis_workers.runs.scan_request import blobs_of

    settings = repository.jarvis.settings
    with wiring.store_of(settings) as store:
        change = require_change(store, blobs_of(settings), find_code_run(store, "last"))
        published = publish_change(change, data)
    assert published is not None
    assert published.branch == branch
    return published.commit


@pytest.mark.slow
def test_at_a_terminal_each_task_continues_on_the_branch_of_the_one_before(repository: Repository) -> None:
    entered = "Return two\n\nAnd main\nas well\n\n\n"
    second = patch("one() - 1", "one() - 2")
    with ModelServer(EDIT, SAYS, second, says("Adapt main")) as server:
        repository.settings(server)
        words = ("code", "-f", repository.top.parent / "settings.yaml", "--gate", "make test; true")
        assert at_terminal(repository.jarvis, entered, *words) == 0

    told = server.requests[2]["messages"][1]["content"]
    assert "And main\nas well" in told
    assert "+int one(void) { return 2; }" in told
    branches = git(repository.top, "for-each-ref", "--format=%(refname:short)", "refs/heads/jarvis").split()
    logs = sorted(git(repository.top, "log", "--format=%s", branch) for branch in branches)
    assert logs == ["Adapt main\nReturn two\nfirst\n", "Return two\nfirst\n"]


@pytest.mark.slow
def test_with_confirm_a_person_accepts_each_change_at_once(repository: Repository) -> None:
    second = patch("one() - 1", "one() - 2")
    with ModelServer(EDIT, SAYS, second, says("Adapt main")) as server:
        repository.settings(server, code={"confirm": True})
        words = ("code", "-f", repository.top.parent / "settings.yaml")
        assert at_terminal(repository.jarvis, "Return two\n\ny\nAnd main\n\nn\n\n", *words) == 0

    assert git(repository.top, "log", "--format=%s") == "Return two\nfirst\n"
    assert git(repository.top, "log", "--format=%s", repository.branch) == "Adapt main\nReturn two\nfirst\n"


@pytest.mark.slow
def test_at_a_terminal_a_directory_can_become_a_repository(repository: Repository) -> None:
    subprocess.run(["rm", "-rf", repository.top / ".git"], check=True)
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        words = ("code", "-f", repository.top.parent / "settings.yaml", "-r", "Return two")
        assert at_terminal(repository.jarvis, "y\n", *words) == 0

    assert git(repository.top, "log", "--format=%s", repository.branch) == "Return two\nUncommitted changes\n"


def at_terminal(jarvis: Jarvis, text: str, *words: object) -> int:
    """Run a command whose standard input is a terminal at which a text is entered; return its exit code."""
    here, there = os.openpty()
    os.write(here, text.encode("utf-8", "surrogateescape"))
    try:
        return jarvis.start(*words, stdin=there, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait(100)
    finally:
        os.close(here)
        os.close(there)


@pytest.mark.slow
def test_a_change_is_merged_or_dropped(repository: Repository) -> None:
    (repository.top / "new.c").write_text("int untracked;\n")
    with ModelServer(EDIT, SAYS, patch("test:", "tests:", "Makefile"), says("Rename the target")) as server:
        repository.settings(server)
        repository.code()
        first = repository.run()
        listed = repository.jarvis("code", "list").out
        shown = repository.jarvis("code", "diff", "last").out
        whole = repository.jarvis("code", "diff", first, "--full").out
        accepted = repository.jarvis("code", "accept", first)
        gone = repository.jarvis("code", "diff", first, "--full")
        twice = repository.jarvis("code", "accept", first)
        repository.code(task="Rename the target")
        rejected = repository.jarvis("code", "reject", repository.run())

    assert f"{first}  " in listed
    assert "Return two" in listed
    assert shown.startswith("main.c: modified, +1 -1\n@@")
    assert whole.startswith("diff --git a/main.c b/main.c\n")
    assert (accepted.code, rejected.code) == (0, 0)
    assert accepted.line.startswith(f"run {first}: merged into trunk as ")
    assert "is accepted already" in twice.line
    assert "is accepted, and its branch is gone" in gone.line
    assert git(repository.top, "log", "--format=%s", "trunk") == "Return two\nfirst\n"
    assert git(repository.top, "status", "--porcelain") == "?? new.c\n"
    assert git(repository.top, "branch", "--list", "jarvis/*") == ""
    assert git(repository.top, "worktree", "list").count("\n") == 1
    rows = json.loads(repository.jarvis("code", "list", "--json").out)
    assert [(row["subject"], row["decision"]) for row in rows] == [
        ("Rename the target", "rejected"),
        ("Return two", "accepted"),
    ]
    assert json.loads(repository.jarvis("runs", "report", first, "--json").out)["answer"]["statistics"][
        "commits_accepted"
    ]


@pytest.mark.slow
def test_a_change_of_uncommitted_files_is_applied_to_them_if_it_fits(repository: Repository) -> None:
    dirty = MAIN.replace("one() - 1", "one() - 2")
    (repository.top / "main.c").write_text(dirty)
    before = snapshot(repository.top)
    with ModelServer(calls("read_code", path="main.c"), EDIT, SAYS) as server:
        repository.settings(server)
        ended = repository.code("--with-changes", "--gate", "make test")
        assert snapshot(repository.top) == before
        (repository.top / "main.c").write_text(dirty.replace("return 1", "return 7"))
        refused = repository.jarvis("code", "accept", "last")
        (repository.top / "main.c").write_text(dirty)
        accepted = repository.jarvis("code", "accept", "last")

    assert "one() - 2" in server.requests[1]["messages"][-1]["content"]
    assert (ended.code, refused.code, accepted.code) == (0, 2, 0)
    assert "the changes conflict with uncommitted ones in main.c; commit or stash these first" in refused.line
    assert git(repository.top, "log", "--format=%s", repository.branch) == "Return two\nUncommitted changes\nfirst\n"
    assert "applied to the working tree, not committed" in accepted.line
    assert (repository.top / "main.c").read_text() == dirty.replace("return 1", "return 2")
    assert git(repository.top, "log", "--format=%s") == "first\n"


@pytest.mark.slow
def test_later_commits_are_merged_with_a_change(repository: Repository) -> None:
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        repository.code()
    (repository.top / "Makefile").write_text(MAKEFILE + "# later\n")
    git(repository.top, "commit", "-qam", "later")
    assert repository.jarvis("code", "accept", "last").code == 0

    assert git(repository.top, "log", "--merges", "--format=%p").count(" ") == 1
    assert git(repository.top, "status", "--porcelain") == ""
    assert (repository.top / "main.c").read_text() == MAIN.replace("return 1", "return 2")


@pytest.mark.slow
def test_a_conflict_with_later_commits_is_said(repository: Repository) -> None:
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        repository.code()
    (repository.top / "main.c").write_text(MAIN.replace("return 1", "return 3"))
    git(repository.top, "commit", "-qam", "later")
    ended = repository.jarvis("code", "accept", "last")

    assert ended.code == 2
    assert f"conflicts with later commits in main.c; merge it yourself: git merge {repository.branch}" in ended.line
    assert git(repository.top, "status", "--porcelain") == ""


def test_edits_beside_the_worktree_of_a_change_are_not_lost(repository: Repository) -> None:
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        repository.code()
    (repository.jarvis.settings.data_dir / "worktrees" / repository.run() / "main.c").write_text("mine\n")
    ended = repository.jarvis("code", "reject", "last")

    assert (ended.code, "has uncommitted changes; commit them there, or add --force" in ended.line) == (2, True)
    assert repository.jarvis("code", "reject", "last", "--force").code == 0


@pytest.mark.slow
def test_files_are_those_of_the_commit_whatever_its_attributes_say(repository: Repository) -> None:
    attributes = "*.c text eol=crlf\nMakefile export-ignore\n*.txt export-subst ident\n"
    repository.jarvis.tree(
        ".", {".gitattributes": attributes, "id.txt": "$Id$ $Format:%H$\n", "dos.c": b"a;\r\nb;\r\n"}
    )
    git(repository.top, "add", ".")
    git(repository.top, "commit", "-qm", "attributes")
    blob = git(repository.top, "show", "HEAD:main.c")
    script = calls("execute_script", script_content="cat id.txt Makefile; ls -l run.sh link; grep -c $'\\r' main.c")
    with ModelServer(script, EDIT, patch("b;", "c;", "dos.c"), SAYS) as server:
        repository.settings(server)
        repository.code()

    seen = server.requests[1]["messages"][-1]["content"]
    assert "$Id$ $Format:%H$" in seen
    assert "test: main" in seen
    assert "rwxr-xr-x" in seen
    assert "link -> main.c" in seen
    assert git(repository.top, "show", f"{repository.branch}:main.c") == blob.replace("return 1", "return 2")
    assert git(repository.top, "ls-tree", repository.branch, "run.sh").startswith("100755")


@pytest.mark.slow
def test_rules_of_the_user_and_of_the_project_are_one_block(repository: Repository) -> None:
    data = repository.jarvis.settings.data_dir
    (data / "rules").write_text("Global rule.\n")
    files = {
        ".jarvis/rules/b.md": "Second rule.\n",
        ".jarvis/rules/a.md": "First rule.\n",
        ".jarvis/rules/c.yaml": "x: 1",
    }
    repository.jarvis.tree(".", files)
    with ModelServer(says("Nothing to do.")) as server:
        repository.settings(server)
        repository.code()

    prompt = server.requests[0]["messages"][0]["content"]
    assert "<rules>\nGlobal rule.\n\nFirst rule.\n\nSecond rule.\n</rules>" in prompt


def test_hostile_edits_are_refused_and_the_rest_of_the_tree_stays(repository: Repository) -> None:
    (repository.top / "image.png").write_bytes(b"\x89PNG\0")
    outside = repository.top.parent / "outside"
    outside.mkdir()
    (repository.top / "leads").symlink_to(outside)
    git(repository.top, "add", ".")
    git(repository.top, "commit", "-qm", "more")
    steps = [
        calls("rewrite", files=[{"path": path, "content": "bad\n"}])
        for path in ("leads/x.c", "../x.c", ".git/hooks/pre-commit", "link", "/tmp/x.c")
    ]
    steps += [patch("PNG", "x", "image.png"), patch("one", "x"), patch("nowhere", "x"), EDIT, SAYS]
    before = snapshot(repository.top)
    with ModelServer(*steps) as server:
        repository.settings(server, agent={"rounds": 30})
        ended = repository.code()

    told = [request["messages"][-1]["content"] for request in server.requests[1:]]
    reasons = ("links are not followed", "not below the root", "belongs to git", "is a link", "not below the root")
    for message, reason in zip(told, (*reasons, "is binary", "occurs 2 times", "is not in the file"), strict=False):
        assert reason in message
    assert (ended.code, snapshot(repository.top), list(outside.iterdir())) == (0, before, [])
    assert git(repository.top, "diff", "--name-only", "HEAD", repository.branch) == "main.c\n"


@pytest.mark.slow
def test_submodules_are_left_alone(repository: Repository, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for words in [("init", "-q"), *NAMED, ("commit", "-q", "--allow-empty", "-m", "sub")]:
        git(other, *words)
    git(repository.top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    git(repository.top, "commit", "-qm", "submodule")
    before = git(repository.top, "ls-tree", "HEAD", "sub")
    (repository.top / "new.c").write_text("int new;\n")
    steps = [calls("rewrite", files=[{"path": "sub/x.c", "content": "bad\n"}]), EDIT, SAYS]
    with ModelServer(*steps) as server:
        repository.settings(server)
        ended = repository.code("--with-changes")

    assert "is in the submodule sub, and is not edited" in server.requests[1]["messages"][-1]["content"]
    assert ended.code == 0
    assert git(repository.top, "ls-tree", repository.branch, "sub") == before


@pytest.mark.slow
def test_a_detached_head_is_said(repository: Repository) -> None:
    git(repository.top, "checkout", "-q", "--detach")
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        ended = repository.code()
        accepted = repository.jarvis("code", "accept", "last")

    assert "HEAD is detached at" in ended.err
    assert "merged into the detached HEAD" in accepted.line


@pytest.mark.slow
def test_an_unborn_head_starts_from_the_files_with_changes(repository: Repository, tmp_path: Path) -> None:
    subprocess.run(["rm", "-rf", repository.top / ".git"], check=True)
    git(repository.top, "init", "-q")
    with ModelServer(EDIT, SAYS) as server:
        repository.settings(server)
        refused = repository.code()
        ended = repository.code("--with-changes")
        accepted = repository.jarvis("code", "accept", "last")

    assert "the repository has no commit to start from" in refused.err
    assert "the author of the commit is Jarvis Workers <jarvis@localhost>" in ended.err
    assert (ended.code, accepted.code) == (0, 0)
    assert (repository.top / "main.c").read_text() == MAIN.replace("return 1", "return 2")


def test_a_repository_is_changed_by_one_command_at_a_time(repository: Repository) -> None:
    path = lock_path(repository.top, repository.jarvis.settings.data_dir)
    path.parent.mkdir()
    path.write_text("4711")
    with ModelServer(says("Nothing to do."), forever=says("Nothing to do.")) as server:
        repository.settings(server)
        assert repository.code().code == 0
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ended = repository.code()

    assert (ended.code, f"process {os.getpid()} is changing this repository" in ended.line) == (2, True)


@pytest.mark.parametrize(
    ("words", "says_why"),
    [
        (("code", "-n"), "-n needs a task: -r TASK"),
        (("code",), "without a terminal, jarvis code needs a task"),
        (("code", "-n", "-r", " "), "-r is empty; describe the task"),
        (("code", "-n", "-r", "x", "-G", "none"), 'there is no tool group "none"'),
        (("code", "-n", "-r", "x", "--prefix", "a\nb"), "--prefix should be one line of printable characters"),
        (("code", "-n", "-r", "x", "--detach"), "--detach needs a cluster"),
        (("code", "-n", "-r", "x", "--attempts", "0"), '"0" is not a whole number'),
        (("code", "-n", "-r", "x", "--format", "html"), "--format"),
        (("code", "-n", "-r", "x", "-g", "none"), 'there is no group "none"'),
        (("code", "accept", "last"), "there is no run that changes code yet"),
        (("code", "diff", "77"), 'no run "77"'),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    repository: Repository, words: tuple[str, ...], says_why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:
        repository.settings(server)
        (repository.top / "jarvis.yaml").write_text((repository.top.parent / "settings.yaml").read_text())
        trust_file(repository.top / "jarvis.yaml")
        with Path(os.devnull).open() as nothing:
            monkeypatch.setattr("sys.stdin", nothing)
            ended = repository.jarvis(*words)

    assert ended.code == 2
    assert says_why in ended.line


@pytest.mark.parametrize(
    ("text", "says_why"),
    [
        (b"Return \xff", "is not UTF-8 text"),
        (b"a\0b", "contains a NUL character"),
        (b"x" * 1_000_001, "is longer than 1,000,000 characters"),
        (b" \n", "is empty; describe the task"),
    ],
    ids=["binary", "nul", "long", "empty"],
)
def test_a_task_from_stdin_is_checked_as_well(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, text: bytes, says_why: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))
    with ModelServer() as server:
        repository.settings(server)
        ended = repository.code(task="-")

    assert (ended.code, ended.line.startswith(f"jarvis: -r {says_why}")) == (2, True)


@pytest.mark.slow
def test_a_task_that_is_entered_is_checked_as_well(repository: Repository) -> None:
    with ModelServer(forever=SAYS) as server:
        repository.settings(server)
        words = ("code", "-f", repository.top.parent / "settings.yaml")
        assert at_terminal(repository.jarvis, "Return \udcff\n\n\n", *words) == 2
    assert server.requests == []


def test_a_directory_without_a_repository_is_said(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer() as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(jarvis.place, {"models": {"local": group}})
        ended = jarvis("code", "-n", "-r", "x")

    assert ended.line.endswith("is not in a git repository; make it one with: git init")


def test_a_strict_check_wants_an_author(repository: Repository) -> None:
    git(repository.top, "config", "--unset", "user.email")
    with ModelServer() as server:
        repository.settings(server, code={"git_check": "strict"})
        ended = repository.code()

    assert (ended.code, "git has no user.name and user.email" in ended.line) == (2, True)


@pytest.mark.slow
def test_there_may_be_nothing_to_restore(repository: Repository) -> None:
    with ModelServer(says("Nothing to do.")) as server:
        repository.settings(server)
        ended = repository.code("--restore-session")
        words = ("-f", repository.top.parent / "settings.yaml", "-n", "--restore-session")
        nothing = repository.jarvis("code", *words)

    assert (ended.code, "there is no unfinished run of this repository" in ended.err) == (0, True)
    assert (nothing.code, "there is nothing to restore; give a task with -r" in nothing.err) == (2, True)


@pytest.mark.slow
def test_tools_are_those_of_a_group_and_the_appended_ones(repository: Repository) -> None:
    with ModelServer(says("Nothing to do.")) as server:
        repository.settings(server, tool_groups={"small": ["patch"]})
        ended = repository.code("-G", "small", "--append-tools", "read_code,patch")
        missing = repository.code("--append-tools", "no_such_tool", task="Another")
        runs = repository.jarvis("code", "list").out

    assert ended.code == 0
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["read_code", "patch"]
    assert (missing.code, 'unknown tool "no_such_tool"' in missing.line) == (2, True)
    assert runs.count("\n") == 1


@pytest.mark.slow
def test_a_tool_of_the_user_can_be_appended(repository: Repository) -> None:
    place = repository.top.parent / ".jarvis" / "tools"
    place.mkdir(parents=True)
    members = "name, description, parameters = 'mine', 'Mine.', {'type': 'object', 'properties': {}}"
    run = "def execute(self, arguments): return 'x'"
    (place / "mine.py").write_text(f"class Mine:\n    {members}\n    {run}\n")
    with ModelServer(says("Nothing to do.")) as server:
        repository.settings(server)
        ended = repository.code("--append-tools", "mine")

    assert ended.code == 0
    assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} >= {"mine", *REQUIRED}


@pytest.mark.slow
def test_quiet_prints_one_line_and_only_if_the_exit_code_is_not_0(repository: Repository) -> None:
    git(repository.top, "config", "--unset", "user.email")
    git(repository.top, "checkout", "-q", "--detach")
    (repository.top / "new.c").write_text("int untracked;\n")
    with ModelServer(EDIT, SAYS, FAULTS["401"]) as server:
        repository.settings(server)
        ended = repository.code("-q", "--restore-session")
        stopped = repository.code("-q", task="Another")

    assert (ended.code, ended.err) == (0, "")
    assert (stopped.code, stopped.err.count("\n")) == (3, 1)
