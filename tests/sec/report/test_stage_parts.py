"""What stages add to a report is in all formats by its row alone; names come from the tree."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget, FuzzingOutcome
from jarvis_workers.sec.report import FORMATS, stage_parts
from jarvis_workers.sec.report.rebase import below
from jarvis_workers.sec.report.stage_parts import PartList, StagePart
from jarvis_workers.sec.report.text import TextOptions, render_text
from jarvis_workers.sec.report_document import ReportBody, Summary

NAMES = ("a.c", "[x](http://evil)<b>.c")
BODY = ReportBody(Summary(scanned_files=2, fuzzing=FuzzingOutcome([FuzzedTarget(name) for name in NAMES])))
LISTED = PartList("Programs", "program", lambda value, _: [one.target for one in value.targets])
SHOWN = {"text": "[x](http://evil)<b>.c", "markdown": "`[x](http://evil)<b>.c`", "html": "(http://evil)&lt;b&gt;.c"}


class FilesRead(NamedTuple):
    files: Sequence[str]
    number: int


@pytest.fixture
def _row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = StagePart("fuzzing", lambda _: "", title="Fuzzed", lists=(LISTED,))
    monkeypatch.setattr(stage_parts, "PARTS", (row,))


@pytest.mark.usefixtures("_row")
@pytest.mark.parametrize("form", SHOWN)
def test_reports_for_people_have_the_lists_of_a_row(form: str) -> None:
    text = "".join(FORMATS[form](BODY, {}))

    assert all(part in text for part in ("Programs", "2 programs", "a.c", SHOWN[form]))
    assert ("Fuzzed" in text) == (form != "text")


@pytest.mark.usefixtures("_row")
@pytest.mark.parametrize("form", SHOWN)
def test_a_report_without_the_value_does_not_mention_it(form: str) -> None:
    assert "Programs" not in "".join(FORMATS[form](ReportBody(Summary()), {}))


@pytest.mark.usefixtures("_row")
def test_a_terminal_gets_as_many_names_as_of_other_lists() -> None:
    assert "    1 more\n" in "".join(render_text(BODY, {}, TextOptions(names=1)))


def test_files_of_a_value_are_named_below_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_parts, "PARTS", (StagePart("reading", lambda _: "", paths=("files",)),))
    value: Any = FilesRead(["a.c", "b/c.c"], 2)

    found = below("src", ReportBody(Summary(reading=value))).summary.reading

    assert found == FilesRead(["src/a.c", "src/b/c.c"], 2)
