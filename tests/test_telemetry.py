"""Logs: a line an event, that nothing from outside can bend, hide in, or read a secret from."""

import logging
import os
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_workers import telemetry
from jarvis_workers.telemetry import LINE_BYTES, Lines, line

AT = 1795266855.125


@pytest.fixture
def written() -> Iterator[Callable[[], list[str]]]:
    """Set logging up on a pipe; return what reads the lines written so far."""
    root = logging.getLogger()
    level, (end, start) = root.level, os.pipe()
    os.set_blocking(end, False)
    telemetry.set_up("info", start)
    yield lambda: os.read(end, 1 << 16).decode().splitlines()
    root.setLevel(level)
    for handler in [one for one in root.handlers if isinstance(one, Lines)]:
        root.removeHandler(handler)
    os.close(start)
    os.close(end)


def test_an_event_is_its_time_its_level_and_its_facts() -> None:
    said = line(AT, "INFO", "committed", {"job": 12, "label": "src/a.c", "seconds": 0.25, "process": None})

    assert said == b"2026-11-21T13:14:15.125Z INFO committed job=12 label=src/a.c seconds=0.250 process=None\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("src/a b.c", '"src/a b.c"'),
        ("", '""'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("two\nlines \x1b[31m", r'"two\nlines \x1b[31m"'),
        ("\u202egnp.c", r'"\u202egnp.c"'),
        ("\udcff.c", r'"\udcff.c"'),
        ("größe.c", "größe.c"),
    ],
)
def test_what_is_not_plain_is_quoted_and_escaped(value: str, shown: str) -> None:
    assert (
        line(AT, "INFO", "claimed", {"label": value}).decode()
        == f"2026-11-21T13:14:15.125Z INFO claimed label={shown}\n"
    )


@pytest.mark.parametrize("label", ["a job=12 b.c", "job=12", "job=12 \n", "x job=12 " * 50])
def test_no_value_can_pass_for_another_jobs_story(label: str) -> None:
    said = line(AT, "INFO", "claimed", {"job": 7, "label": label}).decode()

    assert "job=7 " in said
    assert "job=12" not in said


def test_secrets_of_addresses_are_redacted() -> None:
    says = "cannot reach redis://:hunter2@broker/0 nor postgresql://u:hunter2@db/x?password=hunter2 now"
    said = line(AT, "WARNING", "worker", {"says": says})

    assert b"hunter2" not in said
    assert b"broker/0 nor" in said


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(["job", "label", "says"]), st.text(max_size=2000) | st.integers() | st.floats()))
def test_whatever_the_facts_it_is_one_short_printable_line(facts: dict[str, object]) -> None:
    said = line(AT, "INFO", "claimed", facts)
    text = said.decode()

    assert len(said) <= LINE_BYTES
    assert text.endswith("\n")
    assert text[:-1].isprintable()
    assert [word.partition("=")[0] for word in shlex.split(text)[3:]] == list(facts)[: len(shlex.split(text)) - 3]


def test_what_is_too_long_is_cut_and_says_so() -> None:
    said = line(AT, "INFO", "failed", {"job": 12, "label": "ä" * 5000, "reason": "x" * 5000, "more": "y"}).decode()

    assert re.search(r'label="ä+…" reason="x+…"', said)
    assert len(said.encode()) <= LINE_BYTES


def test_events_are_written_from_the_level_on(written: Callable[[], list[str]]) -> None:
    telemetry.debug("sent", job=1)
    telemetry.info("claimed", job=2)
    telemetry.warning("crashed", job=3)

    assert [said.partition(" ")[2] for said in written()] == ["INFO claimed job=2", "WARNING crashed job=3"]


@pytest.mark.timing
def test_the_lock_of_the_log_handler_never_blocks(written: Callable[[], list[str]]) -> None:
    (lines,) = [one for one in logging.getLogger().handlers if isinstance(one, Lines)]
    assert lines.lock
    with lines.lock:
        other = threading.Thread(target=telemetry.info, args=("claimed",), kwargs={"job": 2})
        other.start()
        other.join(timeout=30)

    assert len(written()) == 1


def test_what_libraries_warn_of_is_a_line_of_the_same_kind(written: Callable[[], list[str]]) -> None:
    library = logging.getLogger("celery.worker")
    library.info("of no interest")
    library.warning("lost %s\nagain", "redis://:secret@there")
    try:
        raise ValueError("no such luck")
    except ValueError:
        library.exception("broken")

    assert [said.partition(" ")[2] for said in written()] == [
        r'WARNING celery.worker says="lost redis://:***@there\nagain"',
        'ERROR celery.worker says=broken error="ValueError: no such luck"',
    ]


def test_nothing_is_written_where_no_logs_are_set_up(capfd: pytest.CaptureFixture[str]) -> None:
    telemetry.warning("crashed", job=3)

    assert capfd.readouterr() == ("", "")


def test_logs_that_cannot_be_written_stop_no_work() -> None:
    end, start = os.pipe()
    os.close(end)
    os.close(start)
    Lines(start).emit(logging.makeLogRecord({"msg": "claimed", "facts": {"job": 1}}))


def test_a_library_that_cannot_word_its_warning_stops_no_work(written: Callable[[], list[str]]) -> None:
    (lines,) = [one for one in logging.getLogger().handlers if isinstance(one, Lines)]
    lines.emit(logging.makeLogRecord({"msg": "%d is no number", "args": ("three",)}))
    telemetry.info("claimed", job=2)

    assert len(written()) == 1


@pytest.mark.usefixtures("written")
def test_a_person_is_told_of_each_warning_once_until_there_is_a_log() -> None:
    lines = list[str]()
    with telemetry.notices(lines.append), Path(os.devnull).open("w") as log:
        for _ in range(2):
            telemetry.warning("left out", path="p", says="broken", version=7)
        telemetry.info("webhook", says="delivered")
        telemetry.warning("recovered", job=12, says="its lease expired")
        telemetry.warning("answer cannot be used", agent="Jarvis", says="no report")
        telemetry.set_up("info", log.fileno())
        telemetry.warning("left out", path="q", says="broken")
    telemetry.warning("left out", path="r", says="broken")

    assert lines == ["left out: p: broken: version=7"]
