"""C programs whose functions, or all that they define, are translated to Rust, compiled and run."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jarvis_workers.c2rust.crate import IMPORTS, LINTS, CrateItem, bench_crate
from jarvis_workers.c2rust.mechanical.names import Names, RustBody, SymbolUse
from jarvis_workers.c2rust.mechanical.refusals import Refusal
from jarvis_workers.c2rust.mechanical.translate import declaration, translate_function, translate_global
from jarvis_workers.c2rust.project import Project, ProjectItem, read_project
from jarvis_workers.c2rust.rust_types import ProjectTypes, project_types, type_definitions
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.support.servers import missing

RUSTC = ("rustc", "--edition=2021", "-Cpanic=abort", "-Coverflow-checks=off", "-Cdebug-assertions=off", "-Awarnings")
LAZY = ("-Crelro-level=partial", "-Clink-arg=-Wl,-z,lazy")


@dataclass(frozen=True)
class TranslatedProgram:
    """The units of a program, and what each definition becomes."""

    units: tuple[UnitDefinitions, ...]
    project: Project
    types: ProjectTypes

    def names(self, item: ProjectItem) -> Names:
        signatures = {one.definition.key: one.definition.type for one in self.project.items}
        reserved = frozenset(one.rust_name for one in self.project.globals)
        return Names(self.types.of(item.unit), self.project.names_in(item.unit), signatures, reserved)

    @cached_property
    def results(self) -> dict[str, RustBody | Refusal]:
        """The translations by Rust name."""
        return {
            item.rust_name: (translate_function if item.is_function else translate_global)(
                item.definition, item.unit, self.names(item)
            )
            for item in self.project.items
        }

    def texts(self) -> Iterator[tuple[ProjectItem, str]]:
        for item in self.project.items:
            result = self.results[item.rust_name]
            if isinstance(result, RustBody):
                yield item, result.text

    def declarations(self, *, own: bool) -> list[str]:
        """Return what is declared of the C library, and of the program itself."""
        keys = {item.definition.key for item in self.project.items}
        lines = {}
        for item in self.project.items:
            names, result = self.names(item), self.results[item.rust_name]
            if own:
                link = f'#[link_name = "{item.slot}"]\n' if item.slot != item.rust_name else ""
                lines[item.rust_name] = link + declaration(item.rust_name, item.definition.type, names)
            for use in result.uses if isinstance(result, RustBody) else ():
                if use.kind != "record" and use.key not in keys:
                    lines[use.name] = self._declared(use, names)
        return list(lines.values())

    def _declared(self, use: SymbolUse, names: Names) -> str:
        return declaration(names.symbol(use.key, use.name), use.type, names)


def translated_program(root: Path, files: Sequence[str]) -> TranslatedProgram:
    for tool in ("rustc", "gcc"):
        if not shutil.which(tool):
            missing(tool)
    units = tuple(
        read_definitions(root, CompileCommand(file.encode(), b"", ()), builtin_headers(None)) for file in files
    )
    return TranslatedProgram(units, read_project(units), project_types(units))


def bench_library(program: TranslatedProgram, directory: Path) -> Path:
    """Return the shared library that replaces the functions of the program at its start."""
    functions = [
        CrateItem(item.rust_name, item.slot, item.module, text) for item, text in program.texts() if item.is_function
    ]
    files = bench_crate(type_definitions(program.types), program.declarations(own=True), functions)
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    library = directory / "library.so"
    compile_rust(directory / "src/lib.rs", library, "--crate-type=cdylib", "-Copt-level=1", *LAZY)
    return library


def rust_program(program: TranslatedProgram, directory: Path, optimisation: str = "0") -> Path:
    """Return the program with all functions and globals in Rust."""
    items = "\n".join(text for _, text in program.texts())
    items = re.sub(r'(pub unsafe extern "C" fn \w+__main\()', r'#[export_name = "main"]\n\1', items)
    outside = "\n".join(program.declarations(own=False))
    modules = {
        "types": type_definitions(program.types),
        "c": f'use crate::types::*;\npub use crate::program::*;\nextern "C" {{\n{outside}\n}}\n',
        "program": IMPORTS + items,
    }
    text = "".join(f"mod {name} {{\n{body}\n}}\n" for name, body in modules.items())
    source, binary = directory / "program.rs", directory / "program"
    source.write_text(f"{LINTS}#![no_main]\n{text}")
    compile_rust(source, binary, f"-Copt-level={optimisation}", "-Clink-arg=-lm")
    return binary


def compile_rust(source: Path, made: Path, *flags: str) -> None:
    process = subprocess.run([*RUSTC, *flags, source, "-o", made], stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 0, process.stderr[:4000]


def compile_c(sources: Sequence[Path], made: Path) -> Path:
    subprocess.run(["gcc", "-w", "-O1", *sources, "-o", made, "-lm"], check=True)
    return made


def output(binary: Path, *arguments: str, seconds: int = 120, **variables: str) -> str:
    """Return what a program prints. Raises TimeoutExpired."""
    process = subprocess.run(
        [binary, *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert process.returncode == 0, (process.returncode, process.stderr)
    return process.stdout
