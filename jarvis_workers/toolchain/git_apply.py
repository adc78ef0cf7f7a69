"""Apply a patch with `git apply` to files outside of any repository."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.toolchain.git import MAX_ANSWER_BYTES, local_environment
from jarvis_workers.toolchain.gittree import run
from jarvis_workers.toolchain.temporary import temporary_directory

SECONDS = 60
PREFIX = "jarvis-apply"


def apply_patch(patch: bytes, before: Mapping[str, bytes], environ: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files after the patch. Raises GitFailed if it does not apply, UsageError if git cannot run."""
    with temporary_directory(PREFIX) as place, tempfile.TemporaryFile() as stream:
        for path, content in before.items():
            file = place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        stream.write(patch)
        stream.seek(0)
        variables = local_environment(environ) | {"GIT_CEILING_DIRECTORIES": os.fspath(place.parent)}
        words = ["-C", os.fspath(place), "apply", "--whitespace=nowarn", "-"]
        run(words, variables, seconds=SECONDS, max_output=MAX_ANSWER_BYTES, stdin=stream)
        return {path: (Path(place) / path).read_bytes() for path in before}
