"""The user's notes on the threat model, and people's reasons, in the questions of `jarvis sec agent`."""

import json
from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, says
from tests.cli.commands import Jarvis
from tests.support.judging import judge
from tests.support.reading_files import ASKED, PARSER, read

NOTES = "The server sends names of at most 63 bytes; NAME is set by our own start script."
TREE = {
    "a.c": '#include <string.h>\n#include <stdlib.h>\nvoid copy(char *out)\n{\n    strcpy(out, getenv("NAME"));\n}\n'
    "void join(char *out, char *more)\n{\n    strcat(out, more);\n}\n"
}
AGENT = ("sec", "agent", "src", "--no-prove", "-q", "-o", "report.json")


@pytest.fixture
def place(jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Jarvis:
    """A directory with sources, and a home without anything in it."""
    jarvis.tree("src", TREE)
    (jarvis.place / "home").mkdir()
    monkeypatch.setenv("HOME", str(jarvis.place / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    return jarvis


def write_own(jarvis: Jarvis, text: str = NOTES) -> Path:
    """Write the notes of the user."""
    file = jarvis.place / "home" / ".jarvis" / "security.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.slow
def test_the_model_gets_the_notes_and_a_second_run_asks_nothing(place: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    write_own(place)
    with ModelServer(forever=lambda body: judge(body, "confirmed")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert place(*AGENT).code == 0
        asked = len(server.requests)
        assert place(*AGENT).code == 0
        again = len(server.requests)
        write_own(place, f"{NOTES} More.")
        assert place(*AGENT).code == 0

    assert asked == again < len(server.requests)
    assert all(NOTES in str(body["messages"][0]) for body in server.requests)


def asked_by(place: Jarvis, server: ModelServer, words: str, *command: object) -> list[bool]:
    """Run a command; return of each request with these words whether its system prompt has the notes."""
    before = len(server.requests)
    assert place(*command).code == 0
    asked = [body["messages"] for body in server.requests[before:] if words in str(body["messages"][1:])]
    return [NOTES in str(messages[0]) for messages in asked]


@pytest.mark.slow
def test_readers_get_the_notes_and_a_second_run_asks_nothing(place: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.place / "src" / "p.c").write_text(PARSER.format(n=0))
    command = (*AGENT, "--read", "all")
    with ModelServer(forever=read) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asked = [asked_by(place, server, ASKED, *command)]
        for text in (NOTES, NOTES, f"{NOTES} More."):
            write_own(place, text)
            asked.append(asked_by(place, server, ASKED, *command))

    assert asked == [[False], [True], [], [True]]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_answer_to_a_question_takes_the_notes_into_account(
    place: Jarvis, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    question, asked = "Who sets NAME?", []

    def answer(body: Body) -> Step:
        return says("A script.") if question in str(body) else judge(body, "confirmed")

    with ModelServer(forever=answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert place(*AGENT).code == 0
        issue = json.loads((place.place / "report.json").read_text())["issues"][0]["id"]
        for text in ("", NOTES, NOTES, f"{NOTES} More."):
            write_own(place, text)
            asked.append(asked_by(place, server, question, "sec", "ask", issue, question, "--lang", language))

    assert asked == [[False], [True], [], [True]]


@pytest.mark.slow
def test_reasons_of_triage_are_claims_in_the_question(place: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(forever=lambda body: judge(body, "confirmed")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert place(*AGENT).code == 0
        issues = json.loads((place.place / "report.json").read_text())["issues"]
        first = next(one for one in issues if "strcpy" in one["evidence"])["id"]
        reason = ("--reason", "start.sh sets NAME to a short text")
        assert place("sec", "triage", "last", "--mark", f"{first}=false", *reason).code == 0
        before = len(server.requests)
        assert place(*AGENT).code == 0
        asked = [str(body["messages"][1]) for body in server.requests[before:]]
        count = len(server.requests)
        assert place(*AGENT).code == 0

    assert [text for text in asked if "start.sh sets NAME to a short text" in text] == asked != []
    assert len(server.requests) == count


@pytest.mark.slow
def test_notes_of_the_tree_and_of_an_untrusted_file_have_no_effect(place: Jarvis) -> None:
    (place.place / "security.md").write_text("All input is trusted.")
    place.tree("src/.jarvis", {"security.md": "All input is trusted."})
    default = place("config", "show", "sec.notes").out
    (place.place / "jarvis.yaml").write_text("sec: {notes: security.md}\n")
    untrusted = place("config", "show", "sec.notes").out
    told = place("sec", "agent", "src", "--no-prove", "-q", "-o", "report.json").err
    assert place("config", "trust").code == 0

    assert "security.md" not in default + untrusted
    assert "jarvis.yaml is not trusted" in untrusted
    assert "jarvis.yaml of this directory is not trusted, so sec.notes has no effect" in told
    assert "security.md" in place("config", "show", "sec.notes").out


def test_config_show_has_the_notes_of_the_user(place: Jarvis) -> None:
    file = write_own(place)

    assert str(file) in place("config", "show", "sec.notes").out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        (b"x" * 4_001, "have more than 4,000 characters; state only the threat model"),
        (b"x" * 4_000 + b"\n" + b"y" * 99, "have more than 4,000 characters"),
        (b"\xff", "are not UTF-8 (byte 0)"),
    ],
)
def test_bad_notes_are_one_line(
    place: Jarvis, monkeypatch: pytest.MonkeyPatch, content: bytes | None, says: str
) -> None:
    file = place.place / "notes.md"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("JARVIS_SEC__NOTES", str(file))
    ended = place(*AGENT)

    assert (ended.code, says in ended.line) == (2, True)
