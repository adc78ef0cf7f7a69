"""Rules for agents that change code: files of the user and of the project, which become one text in the prompt.

First those of the data directory (`rules`, a file or a directory of *.md), then those of the project (`.jarvis/rules`,
likewise). Rules of scans are *.yaml files in the same directory, and not read here. Links out of a root are refused.
"""

from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular

RULES, SUFFIX = "rules", ".md"
MOST_BYTES = 64_000


def read_rules(data: Path, project: Path) -> str:
    """Return the texts of all rule files, separated by blank lines. Raises UsageError for one that cannot be used."""
    files = [*_files(data, data / RULES), *_files(project, project / ".jarvis" / RULES)]
    texts = [text for root, file in files if (text := _read(root, file))]
    joined = "\n\n".join(texts)
    if len(joined.encode()) > MOST_BYTES:
        raise UsageError(f"the rules have more than {MOST_BYTES:,} bytes; shorten {plain(str(files[-1][1]))}")
    return joined


def _files(root: Path, place: Path) -> list[tuple[Path, Path]]:
    if place.is_dir():
        return [(root, file) for file in sorted(place.iterdir()) if file.suffix == SUFFIX and file.is_file()]
    return [(root, place)] if place.is_file() else []


def _read(root: Path, file: Path) -> str:
    if not file.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{plain(str(file))}: links out of {plain(str(root))} are not followed; copy the file there")
    try:
        content = read_regular(file, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise UsageError(f"{plain(str(file))}: more than {MOST_BYTES:,} bytes of rules; shorten it")
        return content.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{plain(str(file))}: not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"{plain(str(file))}: cannot be read: {error.strerror}") from error
