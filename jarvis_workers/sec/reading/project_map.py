"""The map of a project, which each reader sees: what it is, how it is built, where data comes in, and its files.

It has no line numbers and no sizes, so that an edit within a function does not change the questions about other files.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from jarvis_workers.models.platforms.protocol import estimate
from jarvis_workers.sec.reading.file_facts import FileFacts

# Of each list; the number of the others is stated.
SHOWN_MAX = 40


def map_text(intro: str, files: Sequence[FileFacts], room: int) -> str:
    """Return the map in at most about `room` tokens; `intro` describes the project and its build."""
    paths = sorted({piece.path for one in files for piece in one.pieces})
    defined = {name for one in files for piece in one.pieces for name in piece.defines}
    callbacks = {one.pieces[0].path: list(one.callbacks) for one in files if one.callbacks and one.pieces}
    programs = [f"{one.pieces[0].path}#{name}" for one in files for name in one.programs if one.pieces]
    declared = sorted({name for one in files for name in one.declares} & defined)
    parts = (
        intro.strip(),
        _listed("Entry points", sorted(programs)),
        _listed("Functions in tables", sorted(f"{path}#{name}" for path, names in callbacks.items() for name in names)),
        _listed("Declared in headers", declared),
        _listed("Files", paths if len(paths) <= SHOWN_MAX else _directories(paths)),
    )
    lines, left = [], room
    for line in chain.from_iterable(part.split("\n") for part in parts if part):
        left -= estimate(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _listed(title: str, names: Sequence[str]) -> str:
    more = f", and {len(names) - SHOWN_MAX} more" if len(names) > SHOWN_MAX else ""
    return f"{title}: {', '.join(names[:SHOWN_MAX])}{more}" if names else ""


def _directories(paths: Iterable[str]) -> list[str]:
    """Return the directories with the number of their files."""
    count: Mapping[str, int] = Counter(path.rpartition("/")[0] or "." for path in paths)
    return [f"{directory}/ ({number})" for directory, number in sorted(count.items())]
