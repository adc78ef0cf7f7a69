"""The options of runs that read a C project, and the JSON form of the compile commands, which are stored as a blob."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from jarvis_workers.builds.command_words import COMPILATION
from jarvis_workers.option import Option
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.source.clang.unit import CompileCommand


@dataclass(frozen=True, kw_only=True)
class ParseOptions(RunOptions):
    """Options for reading the units of a project.

    `commands` is the blob of the compile commands, `clang_headers` the setting of the same name.  With `allow_errors`,
    units with errors are included as far as clang understands them; a unit may use `unit_seconds` of CPU time. With
    `definitions`, syntax trees and types are read too.  `delayed` are names of functions to translate last, `warnings`
    are lines about the compile commands, and `links` are the symbolic links of the project with their targets, both
    relative to its root.  `lang` is the language of reports.
    """

    commands: str = ""
    allow_errors: Annotated[
        bool, Option("--allow-errors", "Accept units with errors, as far as they can be parsed.", COMPILATION)
    ] = False
    definitions: bool = False
    clang_headers: Annotated[str | None, Option(setting="c2rust.clang_headers")] = None
    unit_seconds: Annotated[float, Option(setting="c2rust.unit_seconds")] = 60.0
    unit_memory_mb: Annotated[float, Option(setting="c2rust.unit_memory_mb")] = 2000.0
    delayed: Sequence[str] = field(default_factory=list)
    warnings: Sequence[str] = field(default_factory=list)
    links: Mapping[str, str] = field(default_factory=dict)
    lang: Literal["en", "zh"] = "en"


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
