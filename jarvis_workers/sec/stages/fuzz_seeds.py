"""Choose the seeds of fuzzing among the inputs of a project's own tests: small files, of each type a few."""

import io
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from jarvis_workers.agents.tools.reading import CODE_SUFFIXES
from jarvis_workers.sandbox.mutations import INPUT_MAX

SEEDS_MAX, BYTES_MAX, OF_A_TYPE = 64, 512_000, 12
ENTRIES_MAX = 100_000
# The directories of inputs, those of fuzzing first.
PLACES = (
    re.compile(r"(?:^|[/_-])(?:corpus|corpora|seeds?|fuzz\w*)(?:[/_-]|$)", re.IGNORECASE),
    re.compile(r"(?:^|[/_-])(?:tests?|testdata|samples?|examples?|data|regress\w*|t)(?:[/_-]|$)", re.IGNORECASE),
)
# Files beside the inputs that no program under test reads.
OTHER_SUFFIXES = (
    *(".am", ".cmake", ".in", ".ac", ".m4", ".mk", ".md", ".rst", ".yml", ".yaml"),
    *(".sh", ".py", ".pl", ".o", ".a", ".so"),
)
OTHER_NAMES = re.compile(r"(?:CMakeLists\.txt|(?:GNU)?[Mm]akefile.*|README.*|COPYING.*|LICEN[CS]E.*|ChangeLog|\..*)")


class _Input(NamedTuple):
    place: int
    size: int
    path: str
    entry: tarfile.TarInfo

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.path).suffix


def seeds_of(archive: bytes) -> tuple[bytes, ...]:
    """Return the contents of chosen files of a project's archive: those of fuzzing, then of tests, small ones first."""
    if not archive:
        return ()
    seeds, types, size = dict[bytes, None](), Counter[str](), 0
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for one in sorted(_inputs(opened), key=lambda one: one[:3]):
            if types[one.suffix] >= OF_A_TYPE or size + one.size > BYTES_MAX:
                continue
            file = opened.extractfile(one.entry)
            content = file.read() if file else b""
            if content and content not in seeds:
                seeds[content] = None
                types[one.suffix] += 1
                size += len(content)
            if len(seeds) == SEEDS_MAX:
                break
    return tuple(seeds)


def _inputs(archive: tarfile.TarFile) -> Iterator[_Input]:
    for entry, _ in zip(archive, range(ENTRIES_MAX), strict=False):
        path = PurePosixPath(entry.name)
        if not entry.isreg() or not 0 < entry.size <= INPUT_MAX or OTHER_NAMES.fullmatch(path.name):
            continue
        if path.suffix in OTHER_SUFFIXES or path.suffix.lower() in CODE_SUFFIXES:
            continue
        place = next((number for number, shape in enumerate(PLACES) if shape.search(str(path.parent))), None)
        if place is not None:
            yield _Input(place, entry.size, entry.name, entry)
