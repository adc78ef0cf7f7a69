"""When a stream gets colour, and how a line is painted."""

import io
import re

import pytest

from jarvis_cli.kit.colour import paint, use_colour
from jarvis_workers.sec.commands.finding_card import card
from jarvis_workers.sec.report.text import Span
from jarvis_workers.sec.report_document import Excerpt
from jarvis_workers.sec.triage_record import Judgement
from tests.cli.test_finding_card import ISSUE, VERDICT
from tests.support.issues import issue_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "coloured"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(stream, environ, coloured) -> None:
    assert use_colour(stream, environ) is coloured


def test_spans_with_a_role_are_painted_and_the_text_stays() -> None:
    assert paint((Span("a.c:1:", "path"), Span(" "), Span("high:", "high"))) == (
        "\x1b[1ma.c:1:\x1b[0m \x1b[1;31mhigh:\x1b[0m"
    )


# Yellow and white, also bright: unreadable on a light background. Black, also bright: unreadable on a dark one.
UNREADABLE = {"30", "33", "37", "90", "93", "97"}


def codes(text: str) -> set[str]:
    return {code for sequence in re.findall(r"\x1b\[([0-9;]*)m", text) for code in sequence.split(";")}


@pytest.fixture
def colourful(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


LINES = ("sec fast tree", "sec explain unsafe_api", "doctor")


@pytest.mark.slow
def test_every_command_obeys_the_environment_and_its_colours_are_readable_on_any_background(
    jarvis, colourful, monkeypatch
) -> None:
    jarvis.tree("tree", {"a.c": "int n(char *s) { return atoi(s) + system(s); }\n"})
    forced = [codes(jarvis(*line.split()).out) for line in LINES]
    monkeypatch.setenv("NO_COLOR", "1")
    refused = [codes(jarvis(*line.split()).out) for line in LINES]

    assert all(forced)
    assert set().union(*forced) & UNREADABLE == set()
    assert not any(refused)


@pytest.mark.parametrize("status", ["confirmed", "review", "undecided", "heuristic"])
def test_a_finding_in_triage_is_readable_on_any_background(colourful, status) -> None:
    said = Judgement(fingerprint="0" * 16, rule="unsafe_api", verdict=True, by="ann")
    shown = card(
        issue_of(ISSUE | VERDICT | {"status": status}),
        Excerpt(39, ("a", "b")),
        twins=[1],
        judgement=said,
        place="1 of 2",
    )

    assert codes(shown) - UNREADABLE == codes(shown) != set()
