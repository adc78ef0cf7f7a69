"""The question for the bodies of a given interface: its files, the C code that they stand for, and other files.

The files of a crate are grouped by size: a crate that fits is one question, so that an answer may change types and the
functions that use them together, and its tests can judge it.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import NamedTuple

from jarvis_workers.c2rust.body_question import WORD
from jarvis_workers.c2rust.given_interface import missing_functions

GROUP_MAX, CODE_MAX, OTHERS_MAX = 40_000, 200_000, 30_000
# Directories and files of a crate that only tests, examples and builds use.
BESIDE = frozenset(("tests", "benches", "examples", "bin", "build.rs"))


class InterfaceQuestion(NamedTuple):
    """The files to complete by path, and the untrusted texts of a prompt."""

    files: Mapping[str, str]
    c: str = ""
    others: str = ""
    notes: str = ""

    @property
    def about(self) -> str:
        """Hash that identifies the question."""
        fields = sorted(self.files.items()), *self[1:]
        return sha256(repr(fields).encode("utf-8", "backslashreplace")).hexdigest()


def interface_files(crate: Mapping[str, bytes]) -> dict[str, str]:
    """Return the source files of a crate that an answer may change: not those of its tests and programs."""
    paths = (path for path in sorted(crate) if path.endswith(".rs") and not BESIDE & set(PurePath(path).parts))
    return {path: crate[path].decode(errors="replace") for path in paths}


def interface_groups(files: Mapping[str, str]) -> list[list[str]]:
    """Return the paths of the files of each question; in each, functions have no body."""
    groups, size = list[list[str]](), GROUP_MAX
    for path, text in files.items():
        size += len(text)
        if size > GROUP_MAX:
            groups.append([])
            size = len(text)
        groups[-1].append(path)
    return [group for group in groups if any(missing_functions(files[path]) for path in group)]


def interface_question(
    files: Mapping[str, str], group: Sequence[str], sources: Mapping[str, str], notes: str = ""
) -> InterfaceQuestion:
    """Return the question for a group of files; `sources` are the C files of the project by path."""
    own = {path: files[path] for path in group}
    names = {_plain(one.name) for text in own.values() for one in missing_functions(text)}
    stems = {_plain(PurePath(path).stem) for path in own}

    def rank(path: str) -> tuple[bool, int, str]:
        words = {_plain(word) for word in WORD.findall(sources[path])}
        return _plain(PurePath(path).stem) not in stems, -len(names & words), path

    c = _joined(((path, sources[path]) for path in sorted(sources, key=rank)), CODE_MAX)
    others = _joined(((path, text) for path, text in files.items() if path not in own), OTHERS_MAX)
    return InterfaceQuestion(own, c, others, notes)


def _plain(name: str) -> str:
    """Return a name as it is compared between C and Rust."""
    return name.replace("_", "").lower()


def _joined(texts: Iterable[tuple[str, str]], most: int) -> str:
    """Return texts with their paths, cut to a length."""
    joined = "\n".join(f"// File {path}:\n{text}" for path, text in texts)
    return joined if len(joined) <= most else f"{joined[:most]}\n// … omitted: too long to show"
