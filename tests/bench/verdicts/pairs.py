"""Lay out pairs of CVE fixes, by reference: each side of a file with the headers that it includes, read from git.

The code of other projects is not part of this repository. Directories have neutral names, so that no model is told
which side is which.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from jarvis_workers.sec.judge.slices.places import SourceFile
from tests.bench.verdicts.scoring import OWN, Label

INCLUDED = re.compile(r'^\s*#\s*include\s*["<]([^">]+)', re.MULTILINE)


def lay_out_pairs(repositories: Mapping[str, str], place: Path) -> Iterator[Label]:
    """Write both sides of the pairs of the given projects below `place`, and yield their labels."""
    for pair in json.loads((OWN / "pairs.json").read_text()):
        if repository := repositories.get(pair["project"]):
            for revision, risk in ((f"{pair['commit']}~1", True), (pair["commit"], False)):
                side = sha256(f"{pair['cve']}:{pair['function']}:{risk}".encode()).hexdigest()[:8]
                yield _side(repository, revision, pair, place / side, risk=risk)._replace(file=f"{side}/{pair['file']}")


def _side(repository: str, revision: str, pair: Mapping[str, Any], place: Path, *, risk: bool) -> Label:
    code = _git(repository, "show", f"{revision}:{pair['file']}")
    _write(place / pair["file"], code)
    headers = [path for path in _git(repository, "ls-tree", "-r", "--name-only", revision).decode().splitlines()]
    for name in INCLUDED.findall(code.decode("utf-8", "replace")):
        near = [path for path in headers if path.endswith((f"/{name.lstrip('./')}",)) or path == name]
        for path in near[:1]:
            _write(place / path, _git(repository, "show", f"{revision}:{path}"))
    function = SourceFile(pair["file"], code).named(pair["function"])
    if function is None:
        raise ValueError(f"{pair['cve']}: {pair['file']} has no function {pair['function']} at {revision}")
    return Label(pair["file"], function.first, function.last, risk)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _git(repository: str, *arguments: str) -> bytes:
    return subprocess.run(["git", "--git-dir", repository, *arguments], capture_output=True, check=True).stdout
