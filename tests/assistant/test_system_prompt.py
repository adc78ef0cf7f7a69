"""The system prompt of the assistant: its sections, in the order of the seeds."""

import re

import pytest

from jarvis_workers.assistant.system_prompt import PromptParts, system_prompt
from tests.agents.loop.arrange import look

WHOLE = PromptParts("You are J.", "# USER.md\n\nI like C.", "- s: skill", "## s\n\nSteps.", "Directory: /x", "nightly")


def headings(text: str) -> list[str]:
    return re.findall(r"^# (.+)$", text, re.MULTILINE)


def test_the_sections_stand_in_the_order_of_the_seeds() -> None:
    text = system_prompt(WHOLE, [look([])])

    assert text.startswith("You are J.")
    assert headings(text) == [
        *("USER.md", "Tools", "Skills", "Safety", "Guides for this turn", "Environment", "Principles"),
        "Routine nightly",
    ]
    assert "- look: Look." in text


def test_empty_sections_are_left_out() -> None:
    assert headings(system_prompt(PromptParts("You are J."), [])) == ["Safety", "Principles"]


@pytest.mark.parametrize(
    ("level", "says"),
    [("readonly", "is read-only"), ("supervised", "confirms each call"), ("full", "run without confirmation")],
)
def test_safety_depends_on_the_autonomy(level: str, says: str) -> None:
    assert says in system_prompt(PromptParts("J", level=level), [])  # type: ignore[arg-type]
