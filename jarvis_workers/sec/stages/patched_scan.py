"""Scan a tree before and after a patch, in a child process, since the files are untrusted and a scan needs its CPU.

The child gets a file with the request, and answers with one line.
"""

import json
import os
import select
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_workers.errors import JarvisError
from jarvis_workers.paths import as_text, from_shown, from_text, shown
from jarvis_workers.sec.finding import null_source
from jarvis_workers.sec.fix.rule_sites import RuleSite, RuleSites
from jarvis_workers.sec.stages.direct import scan_directly
from jarvis_workers.sec.stages.numbering import place_spots
from jarvis_workers.sec.stages.options import RuleFacts, SecOptions
from jarvis_workers.sec.stages.results import spots_of
from jarvis_workers.sec.trace import read_trail
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.functions import Functions, functions
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.lex import mask
from jarvis_workers.store.values import Run, Spot
from jarvis_workers.toolchain.children import Child, ChildDied

MODULE = "jarvis_workers.sec.stages.patched_scan"
SECONDS = 300.0
BATCH_BYTES, BATCH_FILES = 1 << 30, 100_000


class TreesScan(NamedTuple):
    """A scan: the files (paths as text) of each tree, the rules and the flags (contents of their blobs)."""

    trees: Sequence[str]
    files: Sequence[str]
    rules: bytes | None
    flags: bytes | None
    min_confidence: float
    depth: str


def scan_trees(request: TreesScan, place: Path, environ: Mapping[str, str]) -> list[RuleSites]:
    """Return the findings of each tree; `place` is an existing directory for the scan."""
    with tempfile.TemporaryDirectory(dir=place) as scratch, tempfile.TemporaryFile() as errors:
        file = Path(scratch) / "request.json"
        fields = request._asdict() | {name: _text(getattr(request, name)) for name in ("rules", "flags")}
        file.write_text(json.dumps(fields | {"place": scratch}), encoding="ascii")
        child = Child(MODULE, [str(file)], environ, errors)
        try:
            answer = _answer(child)
        except ChildDied as problem:
            answer = {"problem": f"the scan ended: {problem}"}
        finally:
            child.kill()
    if why := answer.get("problem"):
        return [RuleSites(problem=why)] * len(request.trees)
    return [_sites(one) for one in answer["trees"]]


def _answer(child: Child) -> dict[str, Any]:
    until = time.monotonic() + SECONDS
    while (left := until - time.monotonic()) > 0:
        if select.select([child], [], [], left)[0]:
            for line in child.receive():
                answer: dict[str, Any] = json.loads(line)
                return answer
    return {"problem": f"the scan took more than {SECONDS:g} s"}


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("latin-1")


def _sites(fields: Mapping[str, Any]) -> RuleSites:
    reported, fired = (tuple(RuleSite(*site) for site in fields[name]) for name in ("reported", "fired"))
    return RuleSites(reported, fired, fields["problem"])


def main(request: Path) -> None:
    """Answer the request in a file. This is a task boundary: any exception is reported to the parent."""
    fields = json.loads(request.read_bytes())
    try:
        answer: dict[str, Any] = {"trees": [_scan(fields, number) for number in range(len(fields["trees"]))]}
    except JarvisError as problem:
        answer = {"problem": str(problem)}
    sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def _scan(fields: Mapping[str, Any], number: int) -> dict[str, Any]:
    blobs = DirectoryBlobs(Path(fields["place"]) / "blobs")
    rules, flags = (fields[name] and blobs.put(fields[name].encode("latin-1")) for name in ("rules", "flags"))
    selection = Selection(suffixes=None, ignore_files=(), paths=tuple(map(from_text, fields["files"])))
    snapshot = pack(Path(fields["trees"][number]), selection, blobs)
    least = fields["min_confidence"]
    options = SecOptions(
        min_confidence=least,
        rules=RuleFacts(blob=rules, depth=fields["depth"]),
        build=flags,
        batch_files=BATCH_FILES,
        batch_bytes=BATCH_BYTES,
        cache=False,
    )
    run = Run("patched", "sec.fast", "", b"", snapshot.id, "direct", "", options.encode())
    code = ScannedCode(Path(fields["trees"][number]))
    done = scan_directly(run, Resources(blobs))
    placed = place_spots([spot for one in done.jobs for spot in spots_of(one.commit)], least)
    sure = [one for one in placed if one.spot.confidence >= least]
    gaps = done.body.summary.not_checked
    return {
        "reported": [_site(one.spot, code) for one in sure if one.gid is not None],
        "fired": [_site(one.spot, code) for one in sure],
        "problem": f"{gaps[0].file} was not checked: {gaps[0].reason}" if gaps else "",
    }


class ScannedCode:
    """The lines of the files of a tree, and the functions that they are in."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files = dict[bytes, tuple[bytes, list[int], Functions]]()

    def line(self, path: bytes, number: int) -> str:
        """Return a line of a file as text, "" if there is none."""
        content, starts, _ = self._file(path)
        if not 0 < number < len(starts):
            return ""
        return content[starts[number - 1] : starts[number]].decode("utf-8", "backslashreplace").strip()

    def function(self, path: bytes, number: int) -> str:
        """Return the name of the function that a line is in or begins, "" if there is none."""
        _, starts, inside = self._file(path)
        if not 0 < number < len(starts):
            return ""
        found = inside.at(starts[number - 1]) or inside.at(starts[number] - 1)
        return found.name.decode("utf-8", "backslashreplace") if found else ""

    def _file(self, path: bytes) -> tuple[bytes, list[int], Functions]:
        if path not in self._files:
            file, language = self._root / os.fsdecode(path), language_of(path) or "c/cpp"
            content = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
            starts = list(accumulate((len(one) + 1 for one in content.split(b"\n")), initial=0))
            self._files[path] = content, starts, functions(mask(content, language).text, language)
        return self._files[path]


def _site(spot: Spot, code: ScannedCode) -> RuleSite:
    function = code.function(spot.path, spot.line)
    source = null_source(spot.pattern, read_trail(spot.trail) if spot.trail else ())
    cause, line = (code.line(from_shown(source[0]), source[1]), source[1]) if source else ("", 0)
    return RuleSite(shown(spot.path), spot.pattern, spot.line, spot.evidence, function, cause, line)


def files_for_scan(names: Sequence[str]) -> list[str]:
    """Return the names of files for a request."""
    return sorted({as_text(os.fsencode(name)) for name in names})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
