"""A file of judgements comes back as it was written; what is no such file, or no such entry, is said in a line."""

from pathlib import Path

import pytest
import yaml

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.triage.file import ENTRIES_MAX, FILE_BYTES, read_triage, triage_text, would_lose
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState

NOISE = Judgement(
    fingerprint="0123456789012345",
    rule="unsafe_api",
    verdict=False,
    reason="both are 'NAME_MAX + 1': # 名",
    by="ann",
    file="src/a.c",
    at=1_763_732_000.25,
)
REAL = Judgement(fingerprint="f" * 16, rule="gets", verdict=True)
GOOD = f"{{fingerprint: '{'a' * 16}', rule: gets, verdict: true}}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "triage.yaml"


def entries(file: Path, *rows: str) -> Path:
    file.write_text("version: 1\njudgements:\n" + "".join(f"- {row}\n" for row in rows))
    return file


def test_what_is_written_comes_back(file: Path) -> None:
    file.write_text("".join(triage_text([NOISE, REAL])))

    assert read_triage(file) == ((NOISE, REAL), ())


def test_a_file_without_judgements_comes_back(file: Path) -> None:
    file.write_text("".join(triage_text([])))

    assert read_triage(file) == ((), ())


def test_a_file_is_plain_yaml_in_which_empty_fields_are_left_out(file: Path) -> None:
    text = "".join(triage_text([NOISE, REAL]))

    assert text.startswith("# Triage verdicts")
    assert "名" in text
    said = yaml.safe_load(text)
    assert said["judgements"][1] == {"fingerprint": "f" * 16, "rule": "gets", "verdict": True}
    assert said["judgements"][0]["at"] == "2025-11-21T13:33:20.250+00:00"


def test_a_hostile_file_name_is_written_harmlessly(file: Path) -> None:
    file.write_text("".join(triage_text([REAL.model_copy(update={"file": "a\x1b[2J\n.c"})])))

    assert read_triage(file).judgements[0].file == "a\\x1b[2J\\n.c"


@pytest.mark.parametrize("moment", ["2025-11-21T13:33:20.25Z", "'2025-11-21 13:33:20.25'", "2025-11-21 14:33:20.25 +1"])
def test_a_time_may_be_written_in_any_usual_way(file: Path, moment: str) -> None:
    (said,) = read_triage(entries(file, f"{GOOD[:-1]}, at: {moment}}}")).judgements

    assert said.at == NOISE.at


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("7", ": is 7; expected a mapping of field names to values"),
        ("{}", '"fingerprint" is missing'),
        ("{fingerprint: 1234567890123456, rule: gets, verdict: true}", '"fingerprint" is 1234567890123456: should be'),
        (GOOD.replace("aaa", "xyz"), "should match [0-9a-f]{16}"),
        (GOOD.replace("gets", "../gets"), "\"rule\" is '../gets': should match [a-z][a-z0-9_]{1,63}"),
        (GOOD.replace("true", "1"), '"verdict" is 1: should be true, false, wontfix or later'),
        (GOOD.replace("true", "wontfx"), "should be true, false, wontfix or later"),
        (GOOD.replace("true", "wontfix"), "verdict is wontfix, which needs a reason"),
        (GOOD.replace("true", "false"), "verdict is false, which needs a reason"),
        (GOOD.replace("true", "false, reason: ' '"), "verdict is false, which needs a reason"),
        (GOOD.replace("true", r'false, reason: "a\e[2Jb"'), "should be one line without control characters"),
        (GOOD.replace("true", f"false, reason: {'x' * 1_001}"), "should have at most 1,000 characters"),
        (GOOD.replace("true", "true, reson: x"), 'unknown key "reson" (did you mean "reason"?)'),
        (GOOD.replace("true", "true, at: yesterday"), "\"at\" is 'yesterday': "),
        (GOOD.replace("true", "true, at: 2025-11-21"), "should be a time such as 2026-11-21T13:31:52Z"),
        (GOOD, "aaaaaaaaaaaaaaaa occurs twice"),
    ],
)
def test_a_bad_entry_is_named_with_its_line(file: Path, row: str, says: str) -> None:
    judgements, problems = read_triage(entries(file, GOOD, row))

    (problem,) = problems
    assert problem.startswith(f"{file}:4: judgement 2: ")
    assert says in problem
    assert "\n" not in problem
    assert "\x1b" not in problem
    assert len(judgements) == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is None; expected version and judgements"),
        (b"[]", r"is \[\]; expected version and judgements"),
        (b"version: 1\n", "expected version and judgements"),
        (b"version: 2\njudgements: []\n", "has format version 2; this program supports 1"),
        (b"version: true\njudgements: []\n", "has format version True; this program supports 1"),
        (b"version: 1\njudgements: {}\n", "judgements is {}; expected a list"),
        (b"version: 1\nversion: 1\njudgements: []\n", ':2: "version" occurs twice'),
        (b"version: 1\njudgements: [&a [], *a]\n", ":2: YAML aliases are not allowed"),
        (b"version: 1\njudgements: !!python/object:os.system []\n", ":2: could not determine a constructor"),
        (b"version: 1\njudgements: [!!bool x]", ":2: cannot be read as bool: 'x'"),
        (b"judgements: [!!timestamp x]", ":1: cannot be read as timestamp: 'x'"),
        (b"judgements: [!!int '']", ":1: cannot be read as int: ''"),
        (b"judgements: [!!set [1]]", ":1: expected a mapping node, but found sequence"),
        (b"[1" + b":00" * 3_000 + b"]", ":1: a number with too many digits"),
        (b"[1" + b":00" * 300_000 + b".5]", ":1: a number with too many digits"),
        (b"judgements: [\n0x" + b"f" * 50_000 + b"]", ":2: a number with too many digits"),
        (b"version: 1\njudgements: " + b"[" * 10_000, "cannot be read as YAML|expected"),
        (b"\xff\xfe", r"is not UTF-8 \(byte 0\)"),
        (b"#" * (FILE_BYTES + 1), "is larger than 2,048 KB; split it"),
        (
            b"version: 1\njudgements: [" + b"0," * (ENTRIES_MAX + 1) + b"]",
            "10,001 judgements, limit 10,000",
        ),
    ],
)
def test_what_is_no_such_file_is_one_line(file: Path, content: bytes, says: str) -> None:
    file.write_bytes(content)

    with pytest.raises(UsageError, match=says) as problem:
        read_triage(file)
    assert "\n" not in str(problem.value)


def test_a_device_is_no_such_file() -> None:
    with pytest.raises(UsageError, match="/dev/null is not a regular file"):
        read_triage(Path("/dev/null"))


def test_a_new_file_may_lose_nothing_that_the_old_one_says(file: Path) -> None:
    assert would_lose(file, []) == 0
    file.write_text("".join(triage_text([NOISE, REAL])))

    assert would_lose(file, [NOISE, REAL.model_copy(update={"verdict": TriageState.FALSE, "reason": "x"})]) == 0
    assert would_lose(file, [NOISE]) == 1
