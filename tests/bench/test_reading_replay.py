"""Recordings of a reader: they belong to places, are replayed over trees with planted defects, and are scored."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import Step
from tests.bench.reading.__main__ import main
from tests.bench.reading.recipes import OWN, load_trees
from tests.bench.reading.replay import Recording, Replay, code_hash, load_recordings

CODE = "int f(char *a)\n{\n    char b[4];\n    strcpy(b, a);\n    return 0;\n}\n"
COPY = "strcpy(b, a);"
SHOWN = f"Read these files:\n\n¤a.c\n\n¤4|     {COPY}\n"
RULE = "¤rule: discovered (buffer_overflow, CWE-121, high)"
ASKED = f"Candidate 1:\n\n¤at a.c#f:4\n{RULE}\n¤line: {COPY}\n\nSurrounding code"
SHOW = "Show candidate 1 by execution, with run_proof; there are 3 attempts."
ATTEMPTS = ({"way": "program", "target": "a.c"}, {"way": "harness", "code": "int main(void)"})


def test_every_recording_applies_to_the_code_of_its_tree() -> None:
    for name in load_trees(OWN / "trees.json"):
        recordings = load_recordings(OWN / f"{name}.jsonl")

        assert recordings and Replay(OWN / name, recordings).stale == []


def test_a_recording_answers_each_kind_of_question_about_its_place(tmp_path: Path) -> None:
    replay = recorded(tmp_path, CODE)

    (item,) = report(replay(question(SHOWN)))
    (verdict,) = report(replay(question(ASKED)))
    tries = [replay(question(ASKED, SHOW, answers=done)) for done in range(3)]

    assert (item["file"], item["line"], item["quote"], item["description"]) == ("a.c", 4, COPY, "too long")
    assert (verdict["gid"], verdict["verdict"], verdict["evidence"][0]["quote"]) == (1, "risk", COPY)
    assert [json.loads(step.calls[0][1]) for step in tries[:2]] == list(ATTEMPTS)
    assert "no recorded attempt" in str(tries[2].content)
    assert (replay.stale, replay.unused, replay.unanswered) == ([], [], [])


def test_code_above_a_function_may_change_but_not_the_line_of_a_recording(tmp_path: Path) -> None:
    moved = recorded(tmp_path, f"int g;\n{CODE}")
    changed = recorded(tmp_path, CODE.replace("strcpy(b, a)", "strlcpy(b, a, 4)"))
    gone = recorded(tmp_path, CODE.replace("int f", "int g"))

    assert report(moved(question(SHOWN.replace("4|", "5|"))))[0]["line"] == 5
    assert moved.stale == []
    assert changed.stale == gone.stale == ["a.c#f:4 (CWE-787): the code of this line has changed"]
    assert report(changed(question(ASKED))) == []


def test_questions_without_a_recording_and_recordings_without_a_question_are_listed(tmp_path: Path) -> None:
    replay = recorded(tmp_path, CODE)

    assert report(replay(question(ASKED.replace("f:4", "f:5").replace("121", "416")))) == []
    assert report(replay(question("Name the worst file of the project."))) == []
    assert report(replay(question(SHOWN.replace(COPY, "other()")))) == []

    assert replay.unanswered == [
        "a.c#f:5 (CWE-416): no recording for verify",
        "a question that begins 'Name the worst file of the project.'",
    ]
    assert replay.unused == [f"a.c#f:4 (CWE-787): no question for {part}" for part in ("read", "verify", "prove")]


def test_another_weakness_on_a_line_has_another_recording(tmp_path: Path) -> None:
    replay = recorded(tmp_path, CODE)

    assert report(replay(question(ASKED.replace("121", "78")))) == []
    assert replay.unanswered == ["a.c#f:4 (CWE-78): no recording for verify"]


def test_the_exchanges_of_a_run_become_recordings_without_code(tmp_path: Path, capsys: Any) -> None:
    name, line = "relay", "free(session->user);"
    shutil.copytree(OWN / name, tmp_path / name)
    found = {"file": "relay.c", "line": 15, "quote": line, "cwe": 416, "description": "stays set", "reach": "remote"}
    lost = {**found, "line": 1, "quote": "free(nothing);"}
    asked = ASKED.replace("a.c#f:4", "relay.c#end_session:3").replace("121", "416")
    verdict = {
        "gid": 1,
        "verdict": "risk",
        "evidence": [{"file": "relay.c#list", "line": 6, "quote": "system(command);"}],
    }
    takes = [
        (question(SHOWN), {"content": json.dumps({"report": [found, lost]})}),
        (question(asked), {"tool_calls": [{"name": "submit_report", "arguments": {"report": [verdict]}}]}),
        *((question(asked, SHOW, answers=done), completion(ATTEMPTS[done])) for done in (1, 0)),
    ]
    for number, (request, take) in enumerate(takes):
        (tmp_path / f"{number}.json").write_text(json.dumps({"request": request, "takes": [take]}))

    code = main(["record", name, str(tmp_path), "--trees", str(tmp_path), "--recordings", str(tmp_path)])

    assert (code, capsys.readouterr().out) == (1, "relay: 1 recordings\nrelay.c:1: its quote is no line of the file\n")
    assert line not in (tmp_path / "relay.jsonl").read_text()
    (recording,) = load_recordings(tmp_path / "relay.jsonl")
    assert (recording.place, recording.cwe) == ("relay.c#end_session:3", 416)
    assert recording.read == {"description": "stays set", "reach": "remote"}
    assert list(recording.prove or ()) == list(ATTEMPTS)
    (answered,) = report(Replay(tmp_path / name, [recording])(question(asked)))
    assert answered["evidence"] == verdict["evidence"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", load_trees(OWN / "trees.json"))
def test_what_a_reader_has_recorded_is_named_confirmed_and_proved(name: str, capsys: Any) -> None:
    code = main(["replay", name])

    *_, row = capsys.readouterr().out.splitlines()
    _, _, named, confirmed, proved, _, false_claims, *_ = [cell.strip() for cell in row.split("|")[1:-1]]
    fixes = len(load_trees()[name].fixes)
    assert (code, named, confirmed) == (0, f"{fixes} of {fixes}", f"{fixes}")
    # A command in a shell and a large allocation cannot be shown by a sanitizer.
    assert int(proved) >= fixes - 1
    assert false_claims.startswith("0 of") and "unknown" not in false_claims


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_recording_that_does_not_apply_is_printed_and_costs_its_defect(tmp_path: Path, capsys: Any) -> None:
    shutil.copytree(OWN / "relay", tmp_path / "relay")
    source = tmp_path / "relay" / "relay.c"
    source.write_text(source.read_text().replace("    system(command);", "    (void)system(command);"))

    code = main(["replay", "relay", "--trees", str(tmp_path), "--", "--read", "all", "--no-prove"])

    out = capsys.readouterr().out
    assert code == 1
    assert "relay: 1 not applied\nrelay.c#list:6 (CWE-78): the code of this line has changed\n" in out
    assert "| relay | product | 1 of 2 | 1 | 0 |" in out


def recorded(place: Path, code: str) -> Replay:
    """Return a replay of one recording over a tree of one file."""
    (place / "a.c").write_text(code)
    read, verdict = {"description": "too long"}, {"verdict": "risk"}
    return Replay(place, [Recording("a.c#f:4", code_hash(COPY), 787, read, verdict, ATTEMPTS)])


def question(*tasks: str, answers: int = 0) -> dict[str, Any]:
    """Return a request with these tasks, the last after a number of answers."""
    messages = [{"role": "user", "content": task} for task in tasks]
    messages += [{"role": "assistant", "content": ""}] * answers
    return {"messages": messages, "tools": [{"function": {"name": "read_code"}}], "response_format": {}}


def completion(arguments: Any) -> dict[str, Any]:
    """Return an answer that calls run_proof, as a server sends it."""
    call = {"id": "1", "function": {"name": "run_proof", "arguments": json.dumps(arguments)}}
    return {"choices": [{"message": {"content": None, "tool_calls": [call]}}]}


def report(step: Step) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(str(step.content))["report"]
    return items
