"""Read compile_commands.json (clang's JSON compilation database) and other lists of compiler calls.

A source compiled with different macros or directories is a separate unit, because `#ifdef` may select different code.
Compilations that differ only in code generation, such as libtool's with and without -fPIC, are one unit.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from jarvis_workers.builds.command_words import expand_responses, split_words
from jarvis_workers.builds.compile_arguments import CompiledSource, language_of, parsing_key, read_call
from jarvis_workers.builds.local_tree import MissingSource, PathMap, ProjectTree, absolute, placing
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import from_text, listing, plain
from jarvis_workers.source.clang.unit import CompileCommand

UNITS_PER_FILE = 8
MOST_ENTRIES = 1_000_000
NAMES_IN_WARNING = 5
# Programs that configure scripts compile and that may remain after the build.
TEST_PROGRAM = re.compile(r"(^|/)(CMakeFiles/(?![^/]*\.dir/)|meson-private/|\.?conf(test|[0-9]+)[^/]*$|_configtest\.)")


class Invocation(NamedTuple):
    """A compiler invocation; `file` is its source if specified separately, `place` identifies it in errors."""

    directory: str
    words: tuple[str, ...]
    file: str | None
    place: str


class CompileCommands(NamedTuple):
    """The units of a project, sorted by file and then in build order, and a line about each omission."""

    commands: tuple[CompileCommand, ...]
    warnings: tuple[str, ...]


def read_database(
    content: bytes, name: str, directory: str, tree: ProjectTree, *, is_complete: bool = True
) -> CompileCommands:
    """Read a compile_commands.json in the absolute path `directory`; `name` identifies it in messages.

    Raises UsageError, one line, for a broken file and, if it must be complete, for a source that is not in the tree.
    """
    return collect_commands(_invocations(_decode(content, name), name, directory, tree), tree, is_complete=is_complete)


def collect_commands(
    invocations: Iterable[Invocation],
    tree: ProjectTree,
    *,
    is_unit: Callable[[str], bool] = lambda _: True,
    is_complete: bool = True,
) -> CompileCommands:
    """Return the units of compiler calls, except for sources whose absolute path `is_unit` rejects.

    Raises UsageError for sources that are not in the tree, unless it may be incomplete.
    """
    collector = _Collector(tree, is_unit)
    for invocation in invocations:
        collector.add(invocation)
    return collector.result(is_complete=is_complete)


def encode_commands(commands: Iterable[CompileCommand]) -> bytes:
    """Return compile commands as JSON."""
    rows = [(os.fsdecode(one.file), os.fsdecode(one.directory), one.arguments) for one in commands]
    return json.dumps(rows, separators=(",", ":")).encode()


def decode_commands(content: bytes) -> list[CompileCommand]:
    """Decode the output of `encode_commands`."""
    return [
        CompileCommand(os.fsencode(file), os.fsencode(directory), tuple(arguments))
        for file, directory, arguments in json.loads(content)
    ]


def is_test_program(path: str) -> bool:
    """Return whether the source is a configuration test of configure, cmake or meson."""
    return TEST_PROGRAM.search(path) is not None


def _decode(content: bytes, name: str) -> list[Any]:
    try:
        entries = json.loads(content.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UsageError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise UsageError(f"{name}: not JSON: nested too deeply") from error
    except ValueError as error:  # a number with thousands of digits
        raise UsageError(f"{name}: not JSON: a number is too long") from error
    if not isinstance(entries, list):
        raise UsageError(f"{name}: not a list of compile commands")
    if len(entries) > MOST_ENTRIES:
        raise UsageError(f"{name}: more than {MOST_ENTRIES} compile commands")
    return entries


def _invocations(entries: list[Any], name: str, base: str, tree: ProjectTree) -> Iterator[Invocation]:
    for number, entry in enumerate(entries, 1):
        place = f"{name}: entry {number}"
        if not isinstance(entry, dict):
            raise UsageError(f"{place}: not an object")
        directory = absolute(_text(entry, "directory", place), base)
        words = _words(entry, place)
        yield Invocation(directory, _expanded(words, directory, place, tree), _text(entry, "file", place), place)


def _text(entry: dict[str, Any], key: str, place: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value or not _is_encodable(value):
        raise UsageError(f'{place}: "{key}" is {"missing" if value is None else "not a path"}')
    return value


def _words(entry: dict[str, Any], place: str) -> list[str]:
    words = entry.get("arguments")
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return _checked(words, place)
    if words is not None:
        raise UsageError(f'{place}: "arguments" is not a list of strings')
    command = entry.get("command")
    if not isinstance(command, str) or not command.strip():
        raise UsageError(f'{place}: neither "command" nor "arguments"')
    try:
        return _checked(split_words(command), place)
    except ValueError as error:
        raise UsageError(f"{place}: {plain(str(error))}") from error


def _checked(words: list[str], place: str) -> list[str]:
    """Return the words. Raises UsageError for words that cannot be program arguments."""
    if not _is_encodable("".join(words)):
        raise UsageError(f"{place}: an argument contains NUL or an unpaired surrogate")
    return words


def _is_encodable(text: str) -> bool:
    try:
        return b"\0" not in from_text(text)
    except UnicodeEncodeError:
        return False


def _expanded(words: list[str], directory: str, place: str, tree: ProjectTree) -> tuple[str, ...]:
    try:
        return tuple(expand_responses(words, lambda name: tree.read(absolute(name, directory))))
    except ValueError as error:
        raise UsageError(f"{place}: {plain(str(error))}") from error


class _Collector:
    def __init__(self, tree: ProjectTree, is_unit: Callable[[str], bool]) -> None:
        self._tree, self._paths, self._is_unit = tree, PathMap(tree), is_unit
        self._units = defaultdict[str, dict[tuple[str, ...], CompileCommand]](dict)
        self._missing: list[str] = []
        self._excluded = defaultdict[str, set[str]](set)

    def add(self, invocation: Invocation) -> None:
        directory = invocation.directory
        source = None if invocation.file is None else absolute(invocation.file, directory)
        relative = None if source is None else self._relative(source, invocation.place)
        call = read_call(
            invocation.words, placing(self._paths, directory), lambda name: self._is_file(absolute(name, directory))
        )
        if source is not None:
            language = next((one.language for one in call.sources if one.name == invocation.file), call.language)
            self._add(CompiledSource(source, language), relative, call.arguments, directory)
        elif call.compiles:
            for one in call.sources:
                path = absolute(one.name, directory)
                if one.name != "-" and self._is_source(one) and self._is_unit(path):
                    self._add(
                        one._replace(name=path), self._relative(path, invocation.place), call.arguments, directory
                    )

    def _is_source(self, source: CompiledSource) -> bool:
        """Return whether an argument is a source file; assembly files count, so that a warning names them."""
        return language_of(source) is not None or source.name.endswith((".S", ".s"))

    def _is_file(self, path: str) -> bool:
        """Return whether a file exists at a path in a command, on this machine or after mapping into the tree."""
        mapped = self._paths.directory(path)
        return self._tree.exists(path) or (mapped != "." and self._tree.exists(f"{self._tree.root}/{mapped}"))

    def _relative(self, path: str, place: str) -> str | None:
        try:
            return self._paths.source(path).relative
        except MissingSource:
            self._missing.append(f"{place}: {plain(path)} does not exist")
            return None

    def _add(self, source: CompiledSource, relative: str | None, arguments: tuple[str, ...], directory: str) -> None:
        language = language_of(source)
        if relative is None:
            self._excluded["outside the project"].add(source.name)
        elif language is None:
            self._excluded["not C or C++"].add(relative)
        else:
            default = language_of(CompiledSource(relative, None))
            full = arguments if language == default else ("-x", language, *arguments)
            command = CompileCommand(from_text(relative), from_text(self._paths.directory(directory)), full)
            units = self._units[relative]
            if len(units) < UNITS_PER_FILE or parsing_key(full) in units:
                units.setdefault(parsing_key(full), command)
            else:
                self._excluded[
                    f"compiled in more than {UNITS_PER_FILE} ways; only the first {UNITS_PER_FILE} are read"
                ].add(relative)

    def result(self, *, is_complete: bool) -> CompileCommands:
        if self._missing and is_complete:
            more = f" (and {len(self._missing) - 1} more)" if len(self._missing) > 1 else ""
            raise UsageError(f"{self._missing[0]}{more}; build the project, or correct its compile commands")
        commands = [command for file in sorted(self._units) for command in self._units[file].values()]
        warnings = [exclusion_warning(reason, names) for reason, names in sorted(self._excluded.items())]
        return CompileCommands(tuple(commands), tuple(warnings))


def exclusion_warning(reason: str, names: set[str]) -> str:
    """Return a line about sources that are not units."""
    return f"{reason}: {listing([plain(name) for name in sorted(names)], NAMES_IN_WARNING)}"
