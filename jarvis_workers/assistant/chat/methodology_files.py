"""Methodologies as files: one JSON object each, in the data directory, in a project, and in the central repository.

A file that cannot be used is left out with a warning: it must not keep an agent from its task.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from jarvis_workers.assistant.methodology import CONTENT_MAX, Methodology, choose_methodologies
from jarvis_workers.constraints import requirement
from jarvis_workers.errors import UsageError
from jarvis_workers.private_files import make_private_directory
from jarvis_workers.runs.atomic_write import write_whole
from jarvis_workers.runs.central_repository import update_central
from jarvis_workers.settings import Settings
from jarvis_workers.settings.yamlfiles import read_text, shown_path
from jarvis_workers.telemetry import warning

FOLDER = "methodologies"
MOST_FILES = 1000
MOST_BYTES = 6 * CONTENT_MAX
HASH_LETTERS = 16


class MethodologyFiles:
    """A book (`assistant.methodology`) that reads from several directories; the first one gets what is saved."""

    def __init__(self, own: Path, others: Sequence[Path] = ()) -> None:
        self.own, self._others = own, others

    def read(self) -> Sequence[Methodology]:
        """Return all methodologies; of several with the same problem type, that of the first directory."""
        found: dict[str, Methodology] = {}
        for directory in (self.own, *self._others):
            for _, methodology in methodologies_in(directory):
                found.setdefault(methodology.problem_type, methodology)
        return tuple(found.values())

    def add(self, methodology: Methodology) -> None:
        """Save a methodology. Raises UsageError."""
        name = sha256(methodology.problem_type.encode()).hexdigest()[:HASH_LETTERS]
        text = json.dumps(methodology.model_dump(), indent=2, ensure_ascii=False)
        try:
            make_private_directory(self.own)
            write_whole(self.own / f"{name}.json", [text, "\n"])
        except OSError as error:
            raise UsageError(f"{shown_path(self.own)}: the methodology cannot be saved: {error.strerror}") from error


def open_methodologies(root: Path | None, data: Path, central: Path | None = None) -> MethodologyFiles:
    """Open the methodologies of the user, those of the project at `root`, and those of a central repository."""
    project = [root / ".jarvis" / FOLDER] if root and not (root / ".jarvis").is_symlink() else []
    shared = [central / FOLDER] if central else []
    return MethodologyFiles(data / FOLDER, (*project, *shared))


def methodologies_for(settings: Settings, task: str, root: Path | None, tell: Callable[[str], None]) -> str:
    """Return the text of the methodologies that fit a task on the tree at `root`, "" if they are not to be used."""
    if not settings.agent.use_methodology:
        return ""
    book = open_methodologies(root, settings.data_dir, update_central(settings, tell))
    return choose_methodologies(book.read(), task)


def methodologies_in(directory: Path) -> Iterator[tuple[Path, Methodology]]:
    """Yield the usable files of a directory, by name, with their contents; symbolic links are not followed."""
    if directory.is_symlink() or not directory.is_dir():
        return
    for file in islice(sorted(directory.glob("*.json")), MOST_FILES):
        if file.is_symlink():
            warning("methodology left out", says=f"{shown_path(file)} is a symbolic link")
            continue
        try:
            yield file, Methodology.model_validate_json(read_text(file, MOST_BYTES))
        except UsageError as error:
            warning("methodology left out", says=str(error))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            says = f"{'.'.join(map(str, wrong['loc']))} {requirement(wrong)}".lstrip()
            warning("methodology left out", says=f"{shown_path(file)}: {says}")
