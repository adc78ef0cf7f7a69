"""The macros and include directories of the files of a scan, from a compile_commands.json.

Files that it compiles, or includes by an option, are scanned whatever their names.
"""

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from jarvis_workers.builds.compile_arguments import FILE_VALUES
from jarvis_workers.builds.compile_sources import read_named_database
from jarvis_workers.builds.local_tree import local_tree
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_shown, from_text, plain, shown
from jarvis_workers.sec.stages.build_flags import FileFlags, encode_flags, files_of
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.clang.unit import ROOT, CompileCommand

# The longest definitions, and the most of a file; more are ignored.
DEFINE_LENGTH, DEFINES_MAX, INCLUDES_MAX = 300, 500, 200
# The places below the root where the files of -include may be.
FORCED_MAX = 100_000
DIRECTORIES = ("-I", "-isystem", "-iquote", "-idirafter")


def flags_of_files(root: Path, database: Path) -> bytes:
    """Return the flags of the files below `root`, as a blob for workers; of several compilations, the first.

    Raises UsageError, one line, if the database cannot be read or has no file below `root`.
    """
    if not root.is_dir():
        raise UsageError(f"--compile-commands: {plain(str(root))} is not a directory here")
    commands = read_named_database(database, local_tree(root)).commands
    files: dict[str, FileFlags] = {}
    forced: dict[str, FileFlags] = {}
    for command in commands:
        flags = _flags(command)
        files.setdefault(shown(command.file), flags)
        for name in _forced(command.arguments, flags.include):
            forced.setdefault(shown(from_text(name)), flags)
        if len(forced) > FORCED_MAX:
            raise UsageError(f"--compile-commands {plain(str(database))}: more than {FORCED_MAX:,} files of -include")
    if not files:
        raise UsageError(f"--compile-commands {plain(str(database))}: lists no C or C++ file below {plain(str(root))}")
    return encode_flags(forced | files)


def _flags(command: CompileCommand) -> FileFlags:
    words = list(_pairs(command.arguments))
    defines: dict[str, str] = {}
    for option, value in words:
        name = value.partition("=")[0].partition("(")[0]
        defines.pop(name, None)
        if option == "-D" and len(value) <= DEFINE_LENGTH and name.isidentifier() and value.isprintable():
            defines[name] = value
    directories = (value for option, value in words if option in DIRECTORIES)
    inside = (one.removeprefix(ROOT).strip("/") for one in directories if one.startswith(ROOT))
    include = dict.fromkeys(posixpath.normpath(one) if one else "" for one in inside)
    return FileFlags(tuple(list(defines.values())[:DEFINES_MAX]), tuple(include)[:INCLUDES_MAX])


def _forced(arguments: Sequence[str], directories: Sequence[str]) -> Iterator[str]:
    """Yield the paths below the root that the files of `-include` and `-imacros` may have."""
    for option, value in pairwise(arguments):
        if option not in FILE_VALUES:
            continue
        if value.startswith(f"{ROOT}/"):
            yield posixpath.normpath(value.removeprefix(ROOT).lstrip("/"))
        elif not value.startswith("/"):
            yield from (posixpath.normpath(posixpath.join(one, value)) for one in directories)


def compiled_files(build: bytes | None, selection: Selection) -> frozenset[bytes]:
    """Return the files of a blob of `flags_of_files` that are no sources by their names."""
    paths = map(from_shown, files_of(build)) if build is not None else ()
    return frozenset(path for path in paths if not selection.is_source(posixpath.basename(path)))


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options of macros and directories with their values, which follow them directly or as the next word."""
    words = iter(arguments)
    for word in words:
        if word in ("-D", "-U", *DIRECTORIES):
            yield word, next(words, "")
        elif word[:2] in ("-D", "-U", "-I"):
            yield word[:2], word[2:]
