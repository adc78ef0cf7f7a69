"""The sources of a finding in a scratch directory: with the patches before it, and the copy that an agent edits."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Self

from jarvis_workers.agents.conversations.working_copy import unpack_sources
from jarvis_workers.sec.fix.fixable import FixFinding, FixLine, FixPlan
from jarvis_workers.sec.fix.gates import why_not_fixable
from jarvis_workers.sec.fix.result import FixResult
from jarvis_workers.source.functions import functions
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lex import mask

SCRATCH = "jarvis-fix"
CHANGED = "the file has changed since the scan; scan again, or fix with the sources that were scanned"


@dataclass(frozen=True)
class FixTrees:
    """The tree `base` without the patch of a finding beside the tree `root` with it; `below` was scanned."""

    base: Path
    root: Path
    below: str

    @classmethod
    def unpack(cls, place: Path, archive: bytes, patched: Mapping[str, bytes], below: str) -> Self:
        """Write the sources, with the contents of files that earlier patches changed, to two trees in `place`."""
        base, root = place / "base", place / "tree"
        unpack_sources(archive, base)
        for path, content in patched.items():
            (base / path).write_bytes(content)
        shutil.copytree(base, root, symlinks=True)
        return cls(base, root, below)

    def why_not_fixable(self, finding: FixFinding, earlier: Sequence[FixResult]) -> str:
        """Return why a finding is not fixed in these sources, or ""."""
        path = finding.place.file
        content = self._content(path)
        why = why_not_fixable(path, content)
        if why or content is None:
            return f"{path}: {why}"
        scanned = next((one.files[path].before for one in earlier if path in one.files), content)
        return "" if sha256(scanned).hexdigest() == finding.digest else f"{path}: {CHANGED}"

    def scope(self, fix_plan: FixPlan, finding: FixFinding) -> list[str]:
        """Return the files to scan, relative to the scanned directory: all, or those beside the steps of the trace."""
        scanned = self.base / self.below
        lines = (finding.place, *finding.steps, *(other.place for other in finding.others))
        places = {(self.base / line.file).parent for line in lines}
        beside = (file for place in sorted(places) if place.is_dir() for file in sorted(place.iterdir()))
        found = (scanned / name for name in fix_plan.files) if fix_plan.files else beside
        return [str(file.relative_to(scanned)) for file in found if _is_scanned(file, scanned)]

    def with_texts(self, finding: FixFinding) -> FixFinding:
        """Return the finding with the code of each step of its trace."""
        cache = dict[str, list[bytes]]()

        def with_text(step: FixLine) -> FixLine:
            lines = cache.setdefault(step.file, (self._content(step.file) or b"").split(b"\n"))
            text = lines[step.line - 1] if 0 < step.line <= len(lines) else b""
            return step.model_copy(update={"text": text.decode("utf-8", "backslashreplace").strip()})

        return finding.model_copy(update={"steps": tuple(map(with_text, finding.steps))})

    def function_of(self, finding: FixFinding) -> str:
        """Return the name of the function that contains a finding, or ""."""
        content = self._content(finding.place.file) or b""
        offset = sum(len(line) + 1 for line in content.split(b"\n")[: finding.place.line - 1])
        line = content[offset:].partition(b"\n")[0]
        language = language_of(os.fsencode(finding.place.file)) or finding.language
        inside = functions(mask(content, language).text, language)
        found = inside.at(offset) or inside.at(offset + max(line.find(finding.place.text.encode()), 0))
        return found.name.decode("utf-8", "replace") if found else ""

    def _content(self, path: str) -> bytes | None:
        file = self.base / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None


def _is_scanned(file: Path, scanned: Path) -> bool:
    return (
        file.is_file()
        and not file.is_symlink()
        and file.is_relative_to(scanned)
        and language_of(os.fsencode(file.name)) is not None
    )
