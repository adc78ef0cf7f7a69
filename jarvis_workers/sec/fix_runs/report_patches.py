"""The patches of a scanned run, for its reports."""

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from jarvis_workers.paths import shown
from jarvis_workers.sec.fix.merging import merge
from jarvis_workers.sec.fix.result import FIXED, FixResult
from jarvis_workers.sec.fix_runs.fix_results import fixes_of
from jarvis_workers.sec.report_document import PatchReplacement, ReportPatch
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run


def read_patches(store: Store, blobs: Blobs, run: Run) -> dict[str, ReportPatch]:
    """Return the newest patch of each finding of a run, or why it has none, by the finding's id."""
    reports = fixes_of(store, blobs, run)
    patches = dict[str, ReportPatch]()
    for result, originals, below in reports:
        patches |= dict.fromkeys(result.finding.ids, patch_of(result, originals, below))
    return patches


def patch_of(result: FixResult, originals: Mapping[str, bytes], below: str) -> ReportPatch:
    """Return the patch of a result for reports; `originals` are the scanned contents of the files."""
    is_fixed = result.state == FIXED
    return ReportPatch(
        state=result.state,
        reason=result.reason,
        passed=tuple(gate.gate for gate in result.gates if gate.state == "passed"),
        unchecked=tuple(gate.gate for gate in result.gates if gate.state == "not checked"),
        message=result.message,
        diff=result.patch.decode("utf-8", "backslashreplace") if is_fixed else "",
        replacements=tuple(_replacements(result, originals, below)) if is_fixed else (),
        second_look=tuple(result.second_look.lines()) if is_fixed and result.second_look else (),
        older=tuple(map(str, result.older)) if is_fixed else (),
    )


def _replacements(result: FixResult, originals: Mapping[str, bytes], below: str) -> Sequence[PatchReplacement]:
    """Return the replacements in the files that were scanned; none if the patch needs another one before it."""
    found = list[PatchReplacement]()
    for path, file in sorted(result.files.items()):
        original = originals.get(path, file.before)
        after = merge(file.before, original, file.after)
        if after is None:
            return ()
        name = path.removeprefix(f"{below}/") if below else path
        found += _replaced(shown(os.fsencode(name)), original, after)
    return found


def _replaced(file: str, before: bytes, after: bytes) -> Iterator[PatchReplacement]:
    old, new = before.split(b"\n"), after.split(b"\n")
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            text = b"".join(line + b"\n" for line in new[start:end])
            yield PatchReplacement(file, first + 1, last + 1, text.decode("utf-8", "backslashreplace"))
