"""Record a compiler call, then execute the compiler in place of this process.

This file is copied next to the builds that it records and runs there standalone (`python -I -S`), once per compilation,
so it has few imports and none from this project.  Each call writes a separate file, so that parallel builds need no
lock.
"""

import json
import os
import sys
import time
from collections.abc import Mapping

# Set in the compiler's environment, so that a nested wrapper call (Debian's c99 starts gcc) records nothing.
RECORDED = "JARVIS_C2RUST_RECORDED"
SUFFIXES = ("c", "i", "cc", "cpp", "cxx", "c++", "C", "CC", "CPP", "cp", "ii", "S", "s")
RESPONSE_BYTES = 1_000_000
RESPONSES_MAX = 100
CANNOT_EXECUTE, NOT_FOUND = 126, 127


def main(words: list[str], environ: dict[str, str], directory: str) -> int:
    """Record the compiler call `words` in a directory and execute it; return an exit code only on failure."""
    if RECORDED not in environ:
        record(words, directory)
    return execute(words, environ)


def execute(words: list[str], environ: Mapping[str, str]) -> int:
    """Replace this process with the compiler; nested wrapper calls are not recorded. Return an exit code on failure."""
    try:
        os.execvpe(words[0], words, {**environ, RECORDED: "1"})
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_EXECUTE


def record(words: list[str], directory: str) -> None:
    """Write a file to `directory` if the call may compile something; if writing fails, so does the compilation."""
    responses = [word[1:] for word in words if word.startswith("@")]
    if not responses and not any(word.startswith("-x") or word.rpartition(".")[2] in SUFFIXES for word in words[1:]):
        return
    texts: dict[str, str] = {}
    for name in responses:  # which grow by the response files that these name
        text = _read(name) if name not in texts else None
        if text is not None and len(texts) < RESPONSES_MAX:
            texts[name] = text
            responses += [word.strip("\"'")[1:] for word in text.split() if word.strip("\"'").startswith("@")]
    line = json.dumps({"directory": os.getcwd(), "arguments": words, "responses": texts}).encode()  # noqa: PTH109
    path = os.path.join(directory, f"{time.time_ns():020}-{os.getpid()}.json")  # noqa: PTH118
    descriptor = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
    os.rename(f"{path}.new", path)  # noqa: PTH104


def _read(name: str) -> str | None:
    """Return the contents of a response file, which a build may remove later."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123
            return os.fsdecode(file.read(RESPONSE_BYTES))
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], dict(os.environ), sys.argv[1]))
