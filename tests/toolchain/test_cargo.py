"""Messages of cargo."""

import json
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain.bounded_output import Output
from jarvis_workers.toolchain.cargo import CUT, MOST_MESSAGES, CargoMessage, find_rust, read_messages


def test_what_rustc_says_instead_of_its_version_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\necho 'error: no default is configured' >&2\necho help >&2\nexit 1\n")
    rustc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(UsageError, match=r"/rustc: error: no default is configured; install Rust"):
        find_rust.__wrapped__()


def test_messages_name_line_and_column() -> None:
    span = {"file_name": "src/a.rs", "line_start": 3, "column_start": 9, "is_primary": True, "label": "expected `i32`"}
    secondary = {**span, "line_start": 1, "is_primary": False, "label": "because of this"}
    error = {"level": "error", "message": "mismatched types", "code": {"code": "E0308"}, "spans": [secondary, span]}
    help_ = {"level": "help", "message": "convert it", "spans": [{**span, "suggested_replacement": "x.into()"}]}
    error["children"] = [help_, {"level": "note", "message": "two\nlines", "spans": []}]
    lines = [{"message": error}, {"reason": "build-finished"}, {"message": {**error, "level": "note"}}]
    output = "\n".join([*map(json.dumps, lines), '{"message": {"lev'])

    assert list(read_messages(output.encode())) == [
        CargoMessage(
            "error",
            "E0308",
            "mismatched types",
            "src/a.rs",
            3,
            9,
            label="expected `i32`",
            help=("help: convert it: `x.into()`", "note: two lines"),
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/ld: a.o: undefined reference to `name'",
        "rust-lld: error: undefined symbol: name",
        "ld: cannot find -lz",
    ],
)
def test_what_the_linker_says_is_part_of_the_message(line: str) -> None:
    error = {"level": "error", "message": "linking with `cc` failed", "code": None, "spans": []}
    output = json.dumps({"message": {**error, "rendered": f"error: linking\n  = note: {line}\n          more"}})

    (message,) = read_messages(output.encode())
    assert message.text.startswith("linking with `cc` failed: ")
    assert message.text.endswith(line.split(": ", 1)[-1].removeprefix("a.o: ").removeprefix("error: "))


def test_missing_messages_are_a_last_warning() -> None:
    line = b'{"reason": "build-finished"}\n'
    output = Output(10)
    output.add(line * 2)

    cut = [CargoMessage("warning", "", CUT)]
    assert list(read_messages(line * MOST_MESSAGES)) == []
    assert list(read_messages(line * (MOST_MESSAGES + 1))) == cut
    assert list(read_messages(output.text())) == cut
