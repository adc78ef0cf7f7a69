"""Determine the compile commands of the sources of a C project.

In this order: a recorded build (`--configure`, `--build`), the compile_commands.json that the user names or that is in
the root or `build*/`, the setting `c2rust.args`, guessed include directories.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from jarvis_workers.builds.build_directory import BuildDirectory
from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.compile_arguments import read_call
from jarvis_workers.builds.compile_commands import CompileCommands, read_database
from jarvis_workers.builds.local_tree import (
    FileIncludes,
    LocalTree,
    PathMap,
    ProjectFiles,
    guess_commands,
    is_system_header,
    local_tree,
    placing,
    project_files,
)
from jarvis_workers.builds.recorded_build import BuildLimits, record_build
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.clang.unit import CompileCommand

if TYPE_CHECKING:
    from jarvis_workers.settings.schema import Settings

DATABASE = "compile_commands.json"
DATABASE_BYTES = 512_000_000
NO_BUILD = BuildCommands()
NO_SOURCES = "no C or C++ file; give the root of a C project with --path"


class NoSources(UsageError):
    """A tree has no file that a compiler of C or C++ compiles."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to find compile commands; `arguments` are the setting `c2rust.args`.

    `exclude_dirs` are names of directories whose sources are not read unless a compile command names them.
    With `commands` a build is recorded, and what the commands `tests` compile, within `limits`, in a directory below
    `data_dir`.
    """

    compile_commands: Path | None = None
    arguments: tuple[str, ...] = ()
    exclude_dirs: tuple[str, ...] = ()
    commands: BuildCommands = NO_BUILD
    tests: tuple[str, ...] = ()
    data_dir: Path = Path()
    limits: BuildLimits = field(default_factory=BuildLimits)

    @classmethod
    def from_settings(
        cls,
        settings: "Settings",
        compile_commands: Path | None = None,
        commands: BuildCommands = NO_BUILD,
        tests: Sequence[str] = (),
    ) -> Self:
        """Return the options of a command."""
        c2rust = settings.c2rust
        limits = BuildLimits(
            c2rust.build_seconds, c2rust.build_memory_mb, c2rust.build_disk_mb, tuple(map(Path, c2rust.tool_chains))
        )
        return cls(
            compile_commands=compile_commands,
            arguments=c2rust.args,
            exclude_dirs=settings.scan.exclude_dirs,
            commands=commands,
            tests=tuple(tests),
            data_dir=settings.data_dir,
            limits=limits,
        )


@dataclass(frozen=True, slots=True)
class CompilePlan:
    """The units of a project, ordered by file; a file may have several units.

    `tree` is the directory to pack: a copy of the user's directory if a build was recorded; `files` are the paths below
    it that the units may read, in order.  `links` are the symbolic links to these files and to
    directories, with their targets.  Each warning is one line.  A recorded build's `directory` remains at least as long
    as the plan.
    """

    commands: tuple[CompileCommand, ...]
    warnings: tuple[str, ...]
    tree: Path
    files: tuple[bytes, ...] = field(repr=False)
    directory: BuildDirectory | None = field(default=None, repr=False, compare=False)
    links: Mapping[str, str] = field(default_factory=dict, repr=False)


def compile_commands_of(
    tree: Path, options: CompileOptions, on_command: Callable[[str], None] | None = None
) -> CompilePlan:
    """Return the units of the project in a directory; `on_command` is called with each build command before it runs.

    Raises UsageError, one line, if there are none (NoSources if the tree has no source), and CommandFailed for a build
    that fails.
    """
    local = local_tree(tree)
    commands = options.commands
    if commands.given and options.compile_commands is not None:
        raise UsageError(
            f"--compile-commands cannot be combined with {commands.given[-1][0]},"
            " which records its own compile commands"
        )
    if commands.given:
        recorded = record_build(
            tree, commands, options.data_dir, options.limits, tests=options.tests, on_command=on_command
        )
        return _plan(recorded.found, recorded.tree, project_files(recorded.tree), recorded.directory)
    database, warnings = _database(local, options)
    files = project_files(local)
    if database is not None:
        found = _read(database, local)
        if not found.commands:
            raise UsageError(f"{database}: it lists no C or C++ file; build the project, or see --build")
    elif options.arguments:
        found = _uniform(local, files, options)
    else:
        found = _guess(local, files, options)
    return _plan(found._replace(warnings=(*warnings, *found.warnings)), local, files)


def _plan(
    found: CompileCommands, local: LocalTree, files: ProjectFiles, directory: BuildDirectory | None = None
) -> CompilePlan:
    units = {os.fsdecode(command.file) for command in found.commands}
    paths = {*files.includes, *(local.inside(unit) or unit for unit in units)}
    ordered = tuple(sorted(map(os.fsencode, paths)))
    warnings = (*found.warnings, *files.warnings)
    return CompilePlan(found.commands, warnings, Path(local.root), ordered, directory, files.links)


def pack_selection(plan: CompilePlan) -> Selection:
    """Return the selection of the files that the units may read, for packing `plan.tree`."""
    return Selection(suffixes=None, exclude_dirs=frozenset(), ignore_files=(), paths=plan.files)


def _database(local: LocalTree, options: CompileOptions) -> tuple[Path | None, tuple[str, ...]]:
    named = options.compile_commands
    if named is not None:
        return _named(named), ()
    root = Path(local.root)
    found = [path for path in (root / DATABASE, *sorted(root.glob(f"build*/{DATABASE}"))) if path.is_file()]
    if not found:
        return None, ()
    others = ", ".join(plain(str(path.relative_to(root))) for path in found[1:])
    return found[0], (f"not read: {others}; choose one with --compile-commands",) if others else ()


def read_named_database(named: Path, local: LocalTree) -> CompileCommands:
    """Return the units of a tree that a compile_commands.json lists; other files may be missing. Raises UsageError."""
    return _read(_named(named), local, is_complete=False)


def _named(named: Path) -> Path:
    path = named / DATABASE if named.is_dir() else named
    if not path.is_file():
        problem = "not a regular file" if path.exists() else "no such file"
        raise UsageError(f"--compile-commands {plain(str(named))}: {problem}")
    return path


def _read(database: Path, local: LocalTree, *, is_complete: bool = True) -> CompileCommands:
    name = plain(os.path.relpath(database, local.root) if database.is_relative_to(local.root) else str(database))
    try:
        content = read_regular(database, DATABASE_BYTES)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}") from error
    if len(content) > DATABASE_BYTES:
        raise UsageError(f"{name}: larger than {DATABASE_BYTES // 1_000_000} MB")
    return read_database(content, name, os.path.realpath(database.parent), local, is_complete=is_complete)


def _uniform(local: LocalTree, files: ProjectFiles, options: CompileOptions) -> CompileCommands:
    """Return a command with the arguments of the setting for each source."""
    place = placing(PathMap(local), local.root)
    call = read_call(("cc", *options.arguments), place, lambda name: local.exists(f"{local.root}/{name}"))
    return _commands(local, {name: () for name in files.includes}, options, call.arguments)


def _guess(local: LocalTree, files: ProjectFiles, options: CompileOptions) -> CompileCommands:
    warning = f"no {DATABASE}: include directories are guessed; --build CMD records them from the project's own build"
    return _commands(local, files.includes, options, ())._replace(warnings=(warning,))


def _commands(
    local: LocalTree, files: FileIncludes, options: CompileOptions, arguments: tuple[str, ...]
) -> CompileCommands:
    excluded = set(options.exclude_dirs)
    included = {path: includes for path, includes in files.items() if not excluded & set(path.split("/")[:-1])}
    commands = guess_commands(included, arguments, is_system_header)
    if not commands:
        raise NoSources(f"{local.root}: {NO_SOURCES}")
    return CompileCommands(commands, ())
