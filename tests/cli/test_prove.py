"""`jarvis sec agent --prove` and `jarvis sec reproduce`: proofs by execution, from the command line."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import refusal
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.cli.commands import Jarvis
from tests.cli.test_sec_agent import set_models
from tests.support.judging import judge
from tests.support.proving import answers_since, to_show, tries

HEADER = "int greet(const char *name);\n"
CODE = """\
#include <string.h>
#include "greet.h"
int greet(const char *name)
{
    char text[8];
    strcpy(text, name);
    return text[0];
}
"""
MAIN = """\
#include <stdio.h>
#include "greet.h"
int main(void)
{
    char line[256];
    return fgets(line, sizeof line, stdin) ? greet(line) : 1;
}
"""
MAKE = "prog: main.c greet.c\n\t$(CC) -o prog main.c greet.c\n"
LONG = {"name": "stdin", "text": "a" * 60 + "\n"}
TREE = {"greet.c": CODE, "greet.h": HEADER, "main.c": MAIN, "Makefile": MAKE}


def prover(*attempts: Step) -> Any:
    """Return a model that confirms all findings, and makes these attempts to prove each."""
    left = list(attempts)

    def answer(body: Body) -> Step:
        return left.pop(0) if to_show(body) else judge(body, always="confirmed")

    return answer


def run(jarvis: Jarvis, model: Any, *options: object) -> tuple[dict[str, Any], str]:
    with ModelServer(forever=model) as server:
        set_models(jarvis, m=server)
        ended = jarvis("sec", "agent", "-p", "src", "--format", "json", "--lang", "en", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out), ended.err


@pytest.mark.slow
def test_a_proof_is_reported_and_can_be_run_again_until_the_code_is_fixed(jarvis: Jarvis) -> None:
    tree = jarvis.tree("src", TREE)
    found, err = run(jarvis, prover(calls("run_proof", way="program", target="main.c", files=[LONG])), "--prove")

    (issue,) = (one for one in found["issues"] if one["file"] == "greet.c")
    again = jarvis("sec", "reproduce", issue["id"])
    (tree / "greet.c").write_text(CODE.replace("char text[8]", "char text[300]"))
    fixed = jarvis("sec", "reproduce", issue["id"], "--json")
    (tree / "greet.c").write_text("not C")
    broken = jarvis("sec", "reproduce", issue["id"])

    assert (issue["status"], issue["proof"]["kind"]) == ("proved", "program")
    assert "of 1 candidate 1 proved, 0 confirmed" in err
    assert (again.code, fixed.code, broken.code) == (1, 0, 3)
    assert f"{issue['id']} greet.c:6: the proof still fires" in again.out
    assert "#0 greet greet.c:6" in again.out
    assert json.loads(fixed.out)["outcome"] == "silent"
    assert "the proof could not be run" in broken.out


@pytest.mark.slow
def test_a_proof_through_sockets_shows_its_messages_and_can_be_run_again(jarvis: Jarvis) -> None:
    if why := refusal(Tier.A):
        pytest.skip(why)
    tree = jarvis.tree("src", TREE)
    sent = calls("run_proof", way="server", target="main.c", messages=[{"text": LONG["text"], "wait": False}])
    found, _ = run(jarvis, prover(sent), "--prove")

    (issue,) = (one for one in found["issues"] if one["file"] == "greet.c")
    shown = jarvis("runs", "report", "last", "--format", "markdown").out
    again = jarvis("sec", "reproduce", issue["id"])
    (tree / "greet.c").write_text(CODE.replace("char text[8]", "char text[300]"))
    fixed = jarvis("sec", "reproduce", issue["id"], "--json")

    assert (issue["status"], issue["proof"]["kind"]) == ("proved", "server")
    assert "through a network connection" in shown
    assert "./program & sleep 1; (cat message-1) | nc -N 127.0.0.1 2121" in shown
    assert "`message-1`:" in shown
    assert LONG["text"] in shown
    assert (again.code, fixed.code, json.loads(fixed.out)["outcome"]) == (1, 0, "silent")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["markdown", "html", "sarif"])
def test_reports_show_the_proof(jarvis: Jarvis, form: str) -> None:
    jarvis.tree("src", TREE)
    found, _ = run(jarvis, prover(calls("run_proof", way="program", target="main.c", files=[LONG])), "--prove")

    shown = jarvis("runs", "report", "last", "--format", form).out

    assert "#0 greet greet.c:6" in shown
    assert "./program &lt; stdin" in shown or "./program < stdin" in shown
    assert "Proved by execution" in shown or form == "sarif"
    assert found["summary"]["by_status"] == {"proved": 1}


@pytest.mark.slow
def test_a_proof_runs_in_the_program_that_the_build_makes(jarvis: Jarvis) -> None:
    jarvis.tree("src", TREE)
    attempt = calls("run_proof", way="program", target="prog", files=[LONG])
    found, _ = run(jarvis, prover(attempt), "--prove", "--build", "make")

    (issue,) = found["issues"]
    assert (issue["status"], issue["proof"]["stack"][1]) == ("proved", "#0 greet greet.c:6")
    assert jarvis("sec", "reproduce", issue["id"]).code == 1


@pytest.mark.slow
def test_a_build_that_fails_changes_no_verdict_and_is_said(jarvis: Jarvis) -> None:
    jarvis.tree("src", TREE)
    found, _ = run(jarvis, prover(), "--prove", "--build", "make nothing")

    (issue,) = found["issues"]
    assert (issue["status"], issue["proof"]["state"]) == ("confirmed", "failed")
    assert issue["proof"]["reason"].startswith("--build 'make nothing': exit code 2: make: *** No rule")
    assert jarvis("sec", "reproduce", issue["id"]).code == 2


def test_wrong_options_are_refused(jarvis: Jarvis) -> None:
    jarvis.tree("src", TREE)
    for options, message in {
        ("--no-prove", "--build", "make"): "cannot be combined with --no-prove",
        ("--build", " "): "--build needs a command",
    }.items():
        ended = jarvis("sec", "agent", "-p", "src", *options)
        assert (ended.code, message in ended.err) == (2, True), ended.err
    assert jarvis("sec", "reproduce", "C1", "-p", str(Path("none"))).code == 2


@pytest.mark.slow
def test_without_a_compiler_it_is_said_that_nothing_is_proved(
    jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jarvis.tree("src", TREE)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JARVIS_AGENT__PROVE", raising=False)
    found, err = run(jarvis, prover())

    assert "neither gcc nor clang is installed: confirmed findings are not proved by execution" in err
    assert found["summary"]["by_status"] == {"confirmed": 1}


@pytest.mark.slow
def test_the_proof_is_found_after_later_runs_without_one_and_failed_attempts_are_counted(jarvis: Jarvis) -> None:
    jarvis.tree("src", TREE)
    attempt = calls("run_proof", way="program", target="main.c", files=[LONG])
    found, _ = run(jarvis, prover(attempt), "--prove")
    run(jarvis, prover(), "--no-prove")

    assert jarvis("sec", "reproduce", found["issues"][0]["id"]).code == 1
    run(jarvis, prover(), "--prove", "--build", "make nothing")
    assert "Confirmed, but not proved by execution: 1 finding." in jarvis("runs", "report", "last").out


TWO = """\
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[512];
    char name[16] = "", title[8] = "";
    if (!fgets(line, sizeof line, stdin))
        return 1;
    if (line[0] == 'n')
        strcpy(name, line);
    if (line[0] == 't')
        strcpy(title, line);
    return name[0] + title[0];
}
"""


@pytest.mark.slow
def test_killed_between_attempts_a_run_goes_on_with_the_proof_in_its_transcript(jarvis: Jarvis) -> None:
    process: subprocess.Popen[bytes] | None = None
    turns = list[int]()

    def model(body: Body) -> Step:
        shown, turn = to_show(body), answers_since(body)
        turns.append(turn if shown else -1)
        if turn and process is not None and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        file = {"name": "stdin", "text": "t" * 60 + "\n" if turn else "n" * 60 + "\n"}
        attempt = {"way": "program", "target": "main.c", "files": [file]}
        return tries(body, {turn + 1: attempt}) if shown else judge(body, always="confirmed")

    jarvis.tree("src", {"main.c": TWO})
    options = ("sec", "agent", "-p", "src", "--json", "--lang", "en", "--prove")
    with ModelServer(forever=model) as server:
        set_models(jarvis, m=server)
        process = jarvis.start(*options, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert process.wait(100) == -signal.SIGKILL
        resumed = jarvis("runs", "resume", "last", "--json")
        first, seen = json.loads(resumed.out), list(turns)
        again = json.loads(jarvis(*options).out)

    assert seen == [-1, 0, 1, 1]
    assert turns == seen
    assert [issue["proof"]["stack"][1] for issue in first["issues"]] == ["#0 main main.c:10", "#0 main main.c:12"]
    assert first["issues"] == again["issues"]


@pytest.mark.slow
def test_fuzzing_proves_what_a_model_confirmed_in_the_program_that_the_build_makes(jarvis: Jarvis) -> None:
    tree = jarvis.tree("src", TREE)
    (tree / "tests").mkdir()
    (tree / "tests" / "name.txt").write_bytes(b"a name\n")
    found, err = run(jarvis, prover(), "--no-prove", "--fuzz-seconds", "6", "--build", "make")

    (issue,) = found["issues"]
    assert (issue["status"], issue["proof"]["stack"][1]) == ("proved", "#0 greet greet.c:6")
    assert issue["proof"]["reason"] == "with an input that fuzzing made"
    (target,) = found["summary"]["fuzzing"]["targets"]
    assert (target["target"], target["engine"], target["errors"]) == ("prog", "mutations", 1)
    assert "; fuzzed 1 of 1 target, 1 error" in err
    assert jarvis("sec", "reproduce", issue["id"]).code == 1


def test_a_build_without_proofs_and_fuzzing_is_refused(jarvis: Jarvis) -> None:
    jarvis.tree("src", TREE)
    ended = jarvis("sec", "agent", "-p", "src", "--no-prove", "--fuzz-seconds", "0", "--build", "make")

    assert (ended.code, "--build is the build for proofs" in ended.err) == (2, True)
