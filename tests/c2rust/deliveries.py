"""The user's crate of a small C project, made without a run."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from jarvis_workers.c2rust.delivery import CrateText, Delivery, deliver
from jarvis_workers.c2rust.project import read_project
from jarvis_workers.c2rust.translation import TranslatedProject, translate_project
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.support.servers import missing


def command(file: str, *arguments: str) -> CompileCommand:
    return CompileCommand(file.encode(), b"", arguments)


def translated(root: Path, files: Mapping[str, str], commands: Sequence[CompileCommand] = ()) -> TranslatedProject:
    """Write C files below a directory, and return the translation of those that are compiled: all but headers."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    units = commands or [command(name) for name in files if name.endswith(".c")]
    return translate_project(read_project(read_definitions(root, one, builtin_headers(None)) for one in units))


def refusals(project: TranslatedProject) -> dict[str, str]:
    """Return the functions that have no Rust, with the reasons."""
    return {one.item.slot: one.refusal for one in project.functions if one.body is None}


def delivery(
    root: Path,
    files: Mapping[str, str],
    *,
    remaining: Sequence[str] = (),
    commands: Sequence[CompileCommand] = (),
    unread: Sequence[CompileCommand] = (),
    project: TranslatedProject | None = None,
) -> Delivery:
    """Return the crate "sample" of a project in which all functions but `remaining` are Rust if they can be."""
    project = project or translated(root, files, commands)
    items = {one.item.slot: one for one in project.items if one.body and one.item.slot not in remaining}
    bodies = {slot: one.crate_item() for slot, one in items.items() if one.item.is_function}
    variables = {slot: one.crate_item() for slot, one in items.items() if not one.item.is_function}
    units = [*(commands or [command(name) for name in files if name.endswith(".c")]), *unread]
    headers = [name.encode() for name in files if name.endswith(".h")]
    text = CrateText("sample", project.types, project.declarations(), variables)
    includes = {unit.file: headers for unit in units}
    return deliver(project.project, text, bodies, units, lambda file: (root / file.decode()).read_bytes(), includes)


def build(crate: Path, files: Mapping[str, bytes]) -> None:
    """Write a crate and build it by cargo alone."""
    for name, content in files.items():
        (crate / name).parent.mkdir(parents=True, exist_ok=True)
        (crate / name).write_bytes(content)
    try:
        subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=crate, check=True)
    except FileNotFoundError:
        missing("cargo")


def output(crate: Path, program: str, *arguments: str) -> str:
    """Return what a program of a built crate prints."""
    words = [crate / "target" / "debug" / program, *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
