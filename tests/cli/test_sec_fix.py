"""`jarvis sec fix`: patches of confirmed findings that passed all gates, on a branch; the tree stays as it is."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import FAULTS, Body, ModelServer, Step, calls, says
from tests.cli.code_repository import WHO, git, snapshot
from tests.cli.commands import Ended, Jarvis
from tests.sec.stages.fixing import ANSWER, BUILD, CHECK, COPY, FILES, FIX, GOOD, JOIN, JOINED, NAME, edit
from tests.support.judging import judge
from tests.support.settings_files import write_settings

FORMS = ("sarif", "html", "markdown")
CHECKS = ("--build", BUILD, "--test", CHECK)
JOINS = [edit(JOIN, JOINED), says("Bound the second name\n\nstrcat had no limit.")]
LEFT = {
    "line": 5,
    "quote": "strcpy(out, name);",
    "cwe": 787,
    "description": "The size of out is not known here.",
}
LOOKED = says(json.dumps({"report": [LEFT]}))
BOTH = [calls("read_code", path="src/name.c"), GOOD, ANSWER, *JOINS]


class Fixing:
    """A tree with confirmed findings, in a repository or not, and commands over it."""

    def __init__(self, jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in WHO.items():
            monkeypatch.setenv(name, value)
        self.jarvis, self.top = jarvis, jarvis.place
        jarvis.tree(".", {**FILES, ".gitignore": "jarvis.yaml\nprogram\n"})

    def commit(self) -> None:
        names = [("config", "user.name", "Ann Example"), ("config", "user.email", "ann@example.org")]
        for words in [("init", "-qb", "trunk"), *names, ("add", "."), ("commit", "-qm", "first")]:
            git(self.top, *words)

    def settings(self, server: ModelServer) -> None:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(self.top, {"models": {"local": group}})

    def scan(self, always: str = "confirmed") -> list[dict[str, Any]]:
        """Scan the tree, and return the findings, with the same verdict on each."""
        with ModelServer(forever=lambda body: judge(body, always)) as server:
            self.settings(server)
            ended = self.jarvis("sec", "agent", "src", "--json", "--rules", "unsafe_api", "--lang", "en")
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)
        return [*found["issues"], *found.get("dismissed", [])]

    def fix(self, *words: object) -> Ended:
        return self.jarvis("sec", "fix", "last", "--no-second-look", *words)


@pytest.fixture
def fixing(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Fixing:
    return Fixing(jarvis, monkeypatch)


def branches(top: Path) -> list[str]:
    return git(top, "branch", "--list", "jarvis/*", "--format=%(refname:short)").split()


@pytest.mark.slow
def test_each_confirmed_finding_becomes_a_patch_and_a_commit_and_the_tree_stays(fixing: Fixing) -> None:
    fixing.commit()
    copy, join = fixing.scan()
    before = snapshot(fixing.top)
    with ModelServer(*BOTH) as server:
        fixing.settings(server)
        ended = fixing.fix(*CHECKS, "--json", "-d", fixing.top.parent / "out")
        sent = json.dumps(server.requests)

    found = json.loads(ended.out)
    (branch,) = branches(fixing.top)
    assert (ended.code, snapshot(fixing.top)) == (0, {**before, "files": {**before["files"], **_settings(fixing)}})
    assert [(one["id"], one["state"]) for one in found["fixes"]] == [(copy["id"], "fixed"), (join["id"], "fixed")]
    assert (found["branch"], found["scanned"] != found["run"]["id"]) == (branch, True)
    assert git(fixing.top, "log", "--format=%an|%s", f"trunk..{branch}").splitlines() == [
        "Ann Example|Bound the second name",
        "Ann Example|Bound the copy of a name",
    ]
    assert git(fixing.top, "show", f"{branch}:src/name.c") == NAME.replace(COPY, FIX).replace(JOIN, JOINED)
    patches = sorted((fixing.top.parent / "out" / "patches").iterdir())
    assert [path.name for path in patches] == [f"0001-{copy['id']}.patch", f"0002-{join['id']}.patch"]
    git(fixing.top, "apply", *patches)
    assert (fixing.top / "src/name.c").read_text() == NAME.replace(COPY, FIX).replace(JOIN, JOINED)
    assert str(fixing.top) not in sent
    assert copy["id"] not in sent
    check_reports(fixing, found["scanned"])
    check_run(fixing, found["run"]["id"])


def check_run(fixing: Fixing, run: str) -> None:
    """Check what commands and the web page show of the run itself."""
    shown, waited, report = (fixing.jarvis("runs", *words, run) for words in (["show"], ["wait"], ["report"]))
    old = fixing.top.parent / "out" / "patches" / "0009-Cabcdef.patch"
    old.write_text("of an earlier run")
    exported = fixing.jarvis("runs", "export", run, "-d", old.parents[1])
    assert ("fix stage" in shown.out, waited.code, exported.code) == (True, 0, 0)
    assert "of 2 findings 2 fixed, 0 refused" in waited.err
    assert report.out.count("  tests: the tests pass\n") == 2
    assert ([Path(line).name[:4] for line in exported.out.split()], old.exists()) == (["0001", "0002", "fixe"], False)


def check_reports(fixing: Fixing, scanned: str) -> None:
    """Check the patches in the reports of a scanned run."""
    sarif, html, markdown = (fixing.jarvis("runs", "report", scanned, "--format", form).out for form in FORMS)
    results = json.loads(sarif)["runs"][0]["results"]
    changes = [change for result in results for change in result["fixes"][0]["artifactChanges"]]
    assert {change["artifactLocation"]["uri"] for change in changes} == {"src/name.c"}
    lines = NAME.splitlines(keepends=True)
    replaced = [one for change in changes for one in change["replacements"]]
    for one in sorted(replaced, key=lambda one: -int(one["deletedRegion"]["startLine"])):
        region = one["deletedRegion"]
        lines[region["startLine"] - 1 : region["endLine"] - 1] = [one["insertedContent"]["text"]]
    assert "".join(lines) == NAME.replace(COPY, FIX).replace(JOIN, JOINED)
    assert 'class="line added">+    int length = snprintf(' in html
    assert markdown.count("```diff\ndiff --git a/src/name.c b/src/name.c\n") == 2


def _settings(fixing: Fixing) -> dict[str, bytes]:
    return {str(fixing.top / "jarvis.yaml"): (fixing.top / "jarvis.yaml").read_bytes()}


@pytest.mark.slow
def test_a_tree_without_repository_gets_patch_files(fixing: Fixing) -> None:
    copy, _ = fixing.scan()
    with ModelServer(edit(COPY, FIX, "name.c"), ANSWER) as server:
        fixing.settings(server)
        ended = fixing.fix(copy["id"], "--test", "true")

    assert ended.code == 0
    assert "is not under version control" in ended.err
    (patch,) = (fixing.top / "src" / ".jarvis" / "sec" / "patches").iterdir()
    subprocess.run(["git", "apply", patch], cwd=fixing.top / "src", check=True)
    assert (fixing.top / "src/name.c").read_text() == NAME.replace(COPY, FIX)


@pytest.mark.slow
def test_no_report_names_a_branch_that_could_not_be_written(fixing: Fixing) -> None:
    fixing.commit()
    git(fixing.top, "branch", "jarvis")
    copy, _ = fixing.scan()
    with ModelServer(edit(COPY, FIX), ANSWER) as server:
        fixing.settings(server)
        ended = fixing.fix(copy["id"], "--json")
    git(fixing.top, "branch", "-D", "jarvis")
    again = fixing.jarvis("runs", "report", "last", "--json")

    assert (ended.code, again.code) == (3, 0)
    assert "its branch could not be written: git: error: cannot lock ref" in ended.err
    assert "fix this, then run: jarvis runs report" in ended.err
    summary = json.loads((fixing.top / "src" / ".jarvis" / "sec" / "fixes.json").read_text())
    assert (json.loads(ended.out)["branch"], summary["branch"]) == (None, None)
    assert [json.loads(again.out)["branch"]] == branches(fixing.top)


@pytest.mark.slow
def test_a_refused_patch_and_an_undecided_finding_say_why(fixing: Fixing) -> None:
    fixing.commit()
    copy, join = fixing.scan()
    with ModelServer(says("It cannot be fixed."), FAULTS["401"]) as server:
        fixing.settings(server)
        refused = fixing.fix("--top", 1, "--attempts", 1)
        stopped = fixing.fix(join["id"])

    assert (refused.code, f"{copy['id']} src/name.c:11 unsafe_api: refused" in refused.out) == (1, True)
    assert "applies: nothing was changed" in refused.out
    assert "of 1 finding 0 fixed, 1 refused" in refused.err
    assert (stopped.code, "1 NOT DONE" in stopped.err, "the model server refused the request" in stopped.out) == (
        3,
        True,
        True,
    )
    assert branches(fixing.top) == []


@pytest.mark.slow
def test_uncommitted_changes_are_fixed_only_if_they_are_asked_for(fixing: Fixing) -> None:
    fixing.commit()
    (fixing.top / "src/name.c").write_text(f"/* new */\n{NAME}")
    fixing.scan()
    with ModelServer(GOOD, ANSWER) as server:
        fixing.settings(server)
        ended = fixing.fix("--top", 1)
        with_changes = fixing.fix("--top", 1, "--with-changes", *CHECKS)

    assert (ended.code, "has changed since the scan" in ended.out) == (1, True)
    assert "1 uncommitted file is not part of it" in ended.err
    (branch,) = branches(fixing.top)
    assert with_changes.code == 0
    assert git(fixing.top, "log", "--format=%s", f"trunk..{branch}").splitlines() == [
        "Bound the copy of a name",
        "Uncommitted changes",
    ]


@pytest.mark.slow
def test_killed_in_the_middle_a_run_goes_on_to_the_same_branch(fixing: Fixing) -> None:
    fixing.commit()
    fixing.scan()
    asked: list[int] = []

    def answer(body: Body) -> Step:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        if body["messages"][0]["content"].startswith("You review"):
            asked.append(done)
            return LOOKED
        second = "already contain patches" in body["messages"][1]["content"]
        asked.append(done)
        if second and done == 1 and process is not None and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        return (JOINS if second else BOTH[:3])[done]

    process = None
    with ModelServer(forever=answer) as server:
        fixing.settings(server)
        process = fixing.jarvis.start(
            "sec", "fix", "last", *CHECKS, "--json", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        assert process.wait(60) == -signal.SIGKILL
        assert branches(fixing.top) == []
        before = len(asked)
        resumed = fixing.jarvis("runs", "resume", "last")
        # The last answer of the fix, the second look at it, and its correction, since no code is quoted.
        assert len(asked) == before + 3
        again = fixing.jarvis("sec", "fix", "last", *CHECKS, "--json")
        assert len(asked) == before + 3

    first, second = (json.loads(ended.out) for ended in (resumed, again))
    commits = [git(fixing.top, "rev-parse", found["branch"]) for found in (first, second)]
    assert (resumed.code, again.code) == (0, 0)
    assert first["branch"] != second["branch"]
    looks = [[one["second_look"] for one in found["fixes"]] for found in (first, second)]
    assert looks[0] == looks[1]
    assert [look["still_wrong"][0]["description"] for look in looks[0]] == [LEFT["description"]] * 2
    assert commits[0] == commits[1]
    assert [one["patch"] for one in first["fixes"]] == [one["patch"] for one in second["fixes"]]


@pytest.mark.slow
def test_what_cannot_be_fixed_is_a_usage_error(fixing: Fixing, jarvis: Jarvis) -> None:
    nothing = jarvis("sec", "fix", "last")
    with ModelServer() as server:
        fixing.settings(server)
        no_run = jarvis("sec", "fix", "last")
        unknown = jarvis("sec", "fix", "abcd")
    jarvis("sec", "fast", "src", "-q")
    heuristic = jarvis("sec", "fix", jarvis("runs", "list", "-n", "1").out.split("\n")[1].split()[0])

    assert (nothing.code, "no model is set" in nothing.line) == (2, True)
    assert (no_run.code, "there is no run with verdicts yet" in no_run.line) == (2, True)
    assert (unknown.code, 'no run "abcd"' in unknown.line) == (2, True)
    assert (heuristic.code, "verify its findings with: jarvis sec agent" in heuristic.line) == (
        2,
        True,
    )


@pytest.mark.slow
def test_only_confirmed_findings_are_fixed(fixing: Fixing) -> None:
    copy, _ = fixing.scan("dismissed")
    with ModelServer() as server:
        fixing.settings(server)
        dismissed, wrong, nothing = fixing.fix(copy["id"]), fixing.fix("C000000"), fixing.fix()

    assert f"finding {copy['id']} is dismissed; only confirmed findings are fixed" in dismissed.line
    assert 'has no finding "C000000"' in wrong.line
    assert "has no confirmed findings to fix" in nothing.line
