"""Definitions of agents (built-in ones by name, others by path), and predefined tasks.

Predefined tasks are in `tasks.yaml` in the data directory and in .jarvis/: a mapping of names to texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jarvis_workers import assistant
from jarvis_workers.agents.loop.plugins import leave_out
from jarvis_workers.agents.tools.listing import DirectoryTree
from jarvis_workers.agents.tools.tool import ToolFailed
from jarvis_workers.assistant.definition_file import DefinitionFile, read_definition, read_tasks
from jarvis_workers.errors import UsageError
from jarvis_workers.settings.yamlfiles import read_text

BUILT_IN = Path(assistant.__file__).parent / "definitions"
KINDS = ("agent", "roles", "multi_agent")
TEAM = "multi_agent"
TASKS = "tasks.yaml"
TEXT_MAX = 1 << 20


@dataclass(frozen=True)
class BuiltIn:
    """A built-in definition; `kind` is one of KINDS."""

    kind: str
    name: str
    path: Path

    @property
    def description(self) -> str:
        """What it is for; a team is described by its agents."""
        if self.kind == TEAM:
            return f"a team; run it with: jarvis team -c {self.name}"
        return read_definition(self.path.read_text(encoding="utf-8"), self.name).description


@dataclass(frozen=True)
class PredefinedTask:
    """A task of a user or a project."""

    name: str
    text: str
    where: str


def built_in_definitions() -> list[BuiltIn]:
    """Return the built-in definitions, by kind and name."""
    return [BuiltIn(kind, path.stem, path) for kind in KINDS for path in sorted((BUILT_IN / kind).glob("*.yaml"))]


def load_definition(name: str | None) -> DefinitionFile:
    """Return the definition in a file, or the built-in one with this name. Raises UsageError."""
    if name is None:
        return DefinitionFile()
    path = Path(name).expanduser()
    built_in = next((one for one in built_in_definitions() if one.name == name), None)
    if built_in and not path.exists():
        if built_in.kind == TEAM:
            raise UsageError(f"-c {name}: defines a team; run it with: jarvis team -c {name}")
        path = built_in.path
    if not path.exists():
        names = ", ".join(one.name for one in built_in_definitions() if one.kind != TEAM)
        raise UsageError(f"-c {name}: no such file; built-in definitions: {names}")
    try:
        text = read_text(path, TEXT_MAX)
    except UsageError as problem:
        raise UsageError(f"-c {problem}") from problem
    return read_definition(text, name)


def predefined_tasks(data: Path, root: Path) -> list[PredefinedTask]:
    """Return the tasks of the user, then those of the project; a file that cannot be used is left out."""
    return [*_tasks(data, TASKS), *_tasks(root, f".jarvis/{TASKS}")]


def _tasks(directory: Path, name: str) -> Iterator[PredefinedTask]:
    if not (directory / name).exists():
        return
    try:
        text = DirectoryTree(directory).read(name)[:TEXT_MAX].decode("utf-8", "replace")
        tasks = read_tasks(text, name)
    except (ToolFailed, UsageError) as problem:
        leave_out(directory / name, str(problem))
        return
    for task, content in tasks.items():
        yield PredefinedTask(task, content, name)
