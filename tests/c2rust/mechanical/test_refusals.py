"""Each reason for a refusal has a definition that is refused for it."""

from pathlib import Path

import pytest

from jarvis_workers.c2rust.mechanical.refusals import REFUSALS, Refusal
from tests.c2rust.mechanical.translating import translations


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_is_refused_is_refused_by_name(tmp_path: Path, reason: str) -> None:
    result = translations(tmp_path, REFUSALS[reason].example)["refused"]

    assert isinstance(result, Refusal)
    assert result.reason == reason
    assert result.line > 0


def test_a_refused_function_costs_only_itself(tmp_path: Path) -> None:
    results = translations(tmp_path, 'void one(void) { __asm__("nop"); }\n\nint two(int n) { return n; }')

    assert results["one"] == Refusal("inline_asm", 1)
    assert not isinstance(results["two"], Refusal)
