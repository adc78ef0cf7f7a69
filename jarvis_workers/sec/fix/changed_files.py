"""The gates `applies` and `files`: the change is a patch, and only of source files that it may touch."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.gates import APPLIES, FILES, PatchGateResult, failed, passed
from jarvis_workers.source.languages import is_test, language_of
from jarvis_workers.source.lazy_regex import lazy

MOST_FILES = 10
MOST_LINES = 400
CRLF, LF = b"\r\n", b"\n"
HEAD_BYTES = 4_096
# Sources that build a project, by name.
BUILD_SOURCES = frozenset({"build.rs"})
GENERATED_NAME = re.compile(r"(?:^|/)(?:lex\.yy|moc_[^/]*|[^/]*(?:\.tab|\.pb|\.pb-c|\.yy|_wrap|_generated))\.\w+\Z")
# Bison, flex, protoc, SWIG, gperf, re2c and bindgen write such a comment at the top.
GENERATED_TEXT = lazy(
    rb"(?i)@generated|(?:automatically|auto-?)\W*generated|generated (?:automatically|by)\b"
    rb"|do not edit\b|bison implementation|produced by gperf"
)


class FileContents(NamedTuple):
    """A changed file: its content before and after; None where there is no file."""

    before: bytes | None
    after: bytes | None


Changes = Mapping[str, FileContents]


def check_applies(changes: Changes) -> PatchGateResult:
    """Return the result of the gate `applies`, but for the program that applies the patch."""
    if not changes:
        return failed(APPLIES, "nothing was changed; edit the files with patch")
    for path, file in changes.items():
        if file.before is not None and file.after is not None and (why := _line_ends(file.before, file.after)):
            return failed(APPLIES, f"{plain(path)}: {why}")
    lines = sum(abs(_lines(file.after) - _lines(file.before)) for file in changes.values())
    if lines > MOST_LINES:
        return failed(APPLIES, f"the patch adds or removes {lines:,} lines, limit {MOST_LINES}; fix only this finding")
    return passed(APPLIES)


def check_files(changes: Changes, below: str = "") -> PatchGateResult:
    """Return the result of the gate `files`; nothing outside the directory `below` may change, "" is the whole tree."""
    if len(changes) > MOST_FILES:
        return failed(FILES, f"the patch changes {len(changes)} files, limit {MOST_FILES}")
    for path, file in sorted(changes.items()):
        if why := _refused(path, file, below):
            return failed(FILES, f"{plain(path)}: {why}")
    return passed(FILES)


def why_not_fixable(path: str, content: bytes | None) -> str:
    """Return why a finding in this file is not fixed there, or ""."""
    if content is None:
        return "there is no such file in these sources"
    if b"\0" in content:
        return "the file is binary"
    if is_test(path.encode("utf-8", "surrogateescape")):
        return "it is test code"
    return _generated(path, content)


def _refused(path: str, file: FileContents, below: str) -> str:
    name = path.rpartition("/")[2]
    if below and not path.startswith(f"{below}/"):
        return f"it is outside of the scanned directory {plain(below)}"
    if is_test(path.encode("utf-8", "surrogateescape")):
        return "it is test code; a fix does not change tests"
    if name in BUILD_SOURCES or language_of(path.encode("utf-8", "surrogateescape")) is None:
        return "it is not a source file; a fix changes no build files, scripts and documents"
    if file.before is None:
        return "it is a new file; a fix changes existing files"
    if file.after is None:
        return "the file is removed"
    return _generated(path, file.before)


def _generated(path: str, content: bytes) -> str:
    if GENERATED_NAME.search(path) or GENERATED_TEXT.search(content[:HEAD_BYTES]):
        return "it is generated; the fix belongs into what it is generated from"
    return ""


def _line_ends(before: bytes, after: bytes) -> str:
    """Return what is wrong with the line ends of a changed file, or ""."""
    had, has = _style(before), _style(after)
    names = {CRLF: "CRLF", LF: "LF"}
    if had in names and has != had:
        mixed = names.get(has, "mixed ones")
        return f"its line ends were {names[had]}, and the patch has {mixed}; keep them"
    return ""


def _style(content: bytes) -> bytes:
    """Return the line end of all lines of a file, or b"" if it has several or none."""
    windows, all_lines = content.count(CRLF), content.count(LF)
    if not all_lines or 0 < windows < all_lines:
        return b""
    return CRLF if windows else LF


def _lines(content: bytes | None) -> int:
    return (content or b"").count(LF)
