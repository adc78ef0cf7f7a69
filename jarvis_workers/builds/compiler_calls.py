"""Record the compiler calls of a build that the user runs: `CC="jarvis c2rust cc" make`.

compile_commands.json is valid JSON after each call: an entry replaces the closing bracket, under a lock, so that
parallel builds lose nothing and the cost of a call does not depend on the size of the file.
"""

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from jarvis_workers.builds.command_words import expand_responses
from jarvis_workers.builds.compile_arguments import CompiledSource, language_of, read_call
from jarvis_workers.builds.compile_commands import is_test_program
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.toolchain.compiler_wrapper import RECORDED, RESPONSE_BYTES, execute

RECORD, COMPILER = "JARVIS_C2RUST_RECORD", "JARVIS_C2RUST_CC"
DATABASE = "compile_commands.json"
OPEN, CLOSE = b"[\n", b"\n]\n"


def record_and_compile(arguments: Sequence[str], environ: Mapping[str, str], directory: Path) -> int:
    """Record a call of the compiler named by COMPILER (`cc`) in RECORD, then replace this process by the compiler.

    `directory` is the current one.  Returns an exit code if there is no such compiler; raises UsageError if the call
    cannot be recorded.
    """
    words = [environ.get(COMPILER) or "cc", *arguments]
    record = environ.get(RECORD)
    if not record:
        raise UsageError(f"{RECORD} is not set; set it to the directory for {DATABASE}")
    if RECORDED not in environ:
        _append(directory / record, _entries(words, directory))
    return execute(words, environ)


def _entries(words: Sequence[str], directory: Path) -> list[bytes]:
    """Return an entry for each source that a call compiles; response files are expanded, as builds remove them."""
    try:
        words = expand_responses(words, lambda name: _response(directory / name))
    except ValueError as error:
        raise UsageError(f"{words[0]}: {plain(str(error))}") from error
    call = read_call(words, lambda path: path, lambda _: False)
    sources = [one.name for one in call.sources if language_of(CompiledSource(one.name, one.language))]
    sources = [name for name in sources if name != "-" and not is_test_program(name)] if call.compiles else []
    return [
        json.dumps({"directory": os.fspath(directory), "file": name, "arguments": list(words)}).encode()
        for name in sources
    ]


def _response(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return os.fsdecode(file.read(RESPONSE_BYTES))


def _append(record: Path, entries: Sequence[bytes]) -> None:
    if not entries:
        return
    path = record / DATABASE
    try:
        record.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _write(file, b",\n".join(entries), path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def _write(file: IO[bytes], text: bytes, path: Path) -> None:
    size = file.seek(0, os.SEEK_END)
    if not size:
        file.write(OPEN + text + CLOSE)
        return
    place = max(0, size - len(CLOSE))
    file.seek(place)
    if file.read() != CLOSE:
        raise UsageError(f"{path}: not written by jarvis c2rust cc; remove it, or choose another {RECORD}")
    file.seek(place)
    file.write(b",\n" + text + CLOSE)
