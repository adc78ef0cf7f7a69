"""Reports say of each target how long it was fuzzed, or why it was not; names and reasons come from the tree."""

import json

import pytest

from jarvis_workers.sec.fuzzing_outcome import FuzzedTarget, FuzzingOutcome
from jarvis_workers.sec.report import FORMATS
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.sec.report_json import body_from_json, body_to_json
from tests.sec.verdicts import EVERY, RUN, judged_body

TARGETS = (
    FuzzedTarget("fuzz/a.c", "libFuzzer", 12_000, 20, 1),
    FuzzedTarget("b.c", "mutations", 1, 5, 0, "its runs do not end"),
    FuzzedTarget("[x](http://evil)<b>.c", reason="it does not compile"),
)


def body(targets: tuple[FuzzedTarget, ...] = TARGETS) -> ReportBody:
    judged = judged_body(*EVERY)
    return judged._replace(summary=judged.summary._replace(fuzzing=FuzzingOutcome(targets)))


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_reports_for_people_say_how_long_each_target_was_fuzzed_or_why_not(form: str) -> None:
    text = " ".join("".join(FORMATS[form](body(), RUN)).split())

    assert "fuzz/a.c: 12,000 runs in 20 s by libFuzzer, 1 error; b.c: 1 run in 5 s by mutations, 0 errors" in text
    assert "its runs do not end" in text
    assert "was not fuzzed, because it does not compile" in text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_the_name_of_a_target_is_neither_a_link_nor_a_tag(form: str) -> None:
    text = "".join(FORMATS[form](body(), RUN))

    assert "<b>.c" not in text
    assert "[x](http://evil)" not in text or form == "html"


def test_the_json_report_has_the_targets_and_is_read_again() -> None:
    report = json.loads("".join(FORMATS["json"](body(), RUN)))

    assert report["summary"]["fuzzing"]["targets"][0] == TARGETS[0]._asdict()
    found = body_from_json(json.loads(json.dumps(body_to_json(body())))).summary.fuzzing
    assert found is not None and tuple(found.targets) == TARGETS


def test_a_report_of_a_run_that_fuzzed_nothing_does_not_mention_it() -> None:
    assert all("uzz" not in "".join(FORMATS[form](judged_body(*EVERY), RUN)) for form in ("text", "markdown", "json"))
