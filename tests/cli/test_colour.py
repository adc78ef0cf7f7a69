"""When a stream gets colour, and how a line is painted."""

import io

import pytest

from jarvis_cli.colour import paint, wants_colour
from jarvis_workers.sec.report.text import Span


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
    assert wants_colour(stream, environ) is coloured


def test_spans_with_a_role_are_painted_and_the_text_stays() -> None:
    assert paint((Span("a.c:1:", "path"), Span(" "), Span("high:", "high"))) == (
        "\x1b[1ma.c:1:\x1b[0m \x1b[1;31mhigh:\x1b[0m"
    )
