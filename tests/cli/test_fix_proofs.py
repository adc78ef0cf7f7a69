"""`jarvis sec fix` over proved findings: the proof is a gate, and its input becomes a test in the branch."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls, says
from tests.cli.code_repository import NAMED, WHO, git
from tests.cli.commands import Jarvis
from tests.cli.test_prove import LONG, TREE, prover
from tests.cli.test_sec_agent import set_models

COSMETIC = ("    strcpy(text, name);", "    text[7] = 0;\n    strcpy(text, name);")
RIGHT = (
    COSMETIC[1],
    "    if (strlen(name) >= sizeof text)\n        return 0;\n    memcpy(text, name, strlen(name) + 1);",
)
ANSWER = says("Refuse long names\n\nstrcpy had no limit.")


def edit(file: str, search: str, replacement: str) -> Step:
    return calls("patch", edits=[{"path": file, "search": search, "replace": replacement}])


@pytest.fixture
def repository(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)
    jarvis.tree(".", {".gitignore": "jarvis.yaml\n"})
    jarvis.tree("src", TREE)
    for words in [("init", "-qb", "trunk"), *NAMED, ("add", "."), ("commit", "-qm", "first")]:
        git(jarvis.place, *words)
    return jarvis


def prove(jarvis: Jarvis) -> str:
    """Prove the finding in the program that make builds, and return its id."""
    attempt = calls("run_proof", way="program", target="prog", files=[LONG])
    with ModelServer(forever=prover(attempt)) as server:
        set_models(jarvis, m=server)
        ended = jarvis("sec", "agent", "-p", "src", "--json", "--lang", "en", "--prove", "--build", "make")
    (issue,) = json.loads(ended.out)["issues"]
    assert issue["status"] == "proved", issue["proof"]
    return str(issue["id"])


@pytest.mark.slow
def test_killed_while_it_fixes_a_proved_finding_a_run_goes_on_to_the_same_branch(repository: Jarvis) -> None:
    finding, steps = prove(repository), [edit("src/greet.c", *COSMETIC), ANSWER, edit("src/greet.c", *RIGHT), ANSWER]
    process: subprocess.Popen[bytes] | None = None
    asked: list[Any] = []

    def answer(body: Body) -> Step:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        asked.append(body["messages"][-1]["content"])
        if done == 3 and process is not None and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        return steps[done]

    with ModelServer(forever=answer) as server:
        set_models(repository, m=server)
        process = repository.start(
            "sec", "fix", "last", "--no-second-look", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert process.wait(100) == -signal.SIGKILL
        resumed = repository("runs", "resume", "last", "--json")
        calls_made = len(asked)
        again = repository("sec", "fix", "last", "--no-second-look", "--json")

    first, second = (json.loads(ended.out) for ended in (resumed, again))
    assert (resumed.code, again.code, len(asked), calls_made) == (0, 0, 5, 5)
    assert 'The check "proof" failed:' in asked[2]
    assert "the proof still fires" in asked[2]
    assert "#0 greet greet.c:" in asked[2]
    commits = [git(repository.place, "rev-parse", found["branch"]) for found in (first, second)]
    assert commits[0] == commits[1]
    place = f"tests/regressions/greet-{finding}"
    assert first["fixes"][0]["regression_test"] == [f"{place}/README.md", f"{place}/stdin"]
    assert set(git(repository.place, "show", "--name-only", "--format=", first["branch"]).split()) == {
        "src/greet.c",
        f"{place}/README.md",
        f"{place}/stdin",
    }
    check_reports(repository, first["scanned"], first["branch"], place)


def check_reports(repository: Jarvis, scanned: str, branch: str, place: str) -> None:
    """Check that reports say that the proof no longer fires, and that the test of the branch shows the defect."""
    for form in ("markdown", "html"):
        assert "Its proof no longer fires." in repository("runs", "report", scanned, "--format", form).out
    text = repository("runs", "report", "last").out
    assert "proof: the proof no longer fires" in text
    assert f"regression test: {place}/README.md, {place}/stdin" in text
    readme, content = (git(repository.place, "show", f"{branch}:{place}/{name}") for name in ("README.md", "stdin"))
    assert "Build the program `prog` with `-g -fsanitize=address,undefined,float-cast-overflow`" in readme
    assert 7 < len(content) < len(LONG["text"])
    build = ["cc", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-o", "prog", "src/main.c", "src/greet.c"]
    runs = []
    for version in ("trunk", branch):
        git(repository.place, "checkout", "-q", version)
        subprocess.run(build, cwd=repository.place, check=True)
        done = subprocess.run(["./prog"], cwd=repository.place, input=content.encode(), capture_output=True)
        runs.append(b"AddressSanitizer" in done.stderr)
    assert runs == [True, False]
