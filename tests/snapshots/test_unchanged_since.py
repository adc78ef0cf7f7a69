"""Files that are as a revision has them are left out, and counted."""

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.snapshots.unchanged_since import Unchanged

C_FILES = Selection(suffixes=frozenset({b".c"}))


def name_of(content: bytes, kind: str = "sha1") -> str:
    return hashlib.new(kind, b"blob %d\0" % len(content) + content).hexdigest()


@pytest.mark.timing
def test_the_hash_is_the_one_that_git_gives(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"int a;\n")
    said = subprocess.run(["git", "hash-object", tmp_path / "a.c"], capture_output=True, text=True, check=True)

    assert Unchanged("v1", {b"a.c": said.stdout.strip()}).holds(b"a.c", b"int a;\n")


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_file_is_unchanged_when_path_and_content_are_those_of_the_revision(kind: str) -> None:
    unchanged = Unchanged("v1", {b"a.c": name_of(b"int a;\n", kind)})

    assert unchanged.holds(b"a.c", b"int a;\n")
    assert unchanged.holds(b"a.c", b"int a;\r\n")
    assert not unchanged.holds(b"a.c", b"int b;\n")
    assert not unchanged.holds(b"b.c", b"int a;\n")


def test_what_is_unchanged_is_left_out_of_a_snapshot_with_the_reason(tmp_path: Path) -> None:
    for name, content in (("a.c", b"int a;\n"), ("b.c", b"int b;\n"), ("c.c", b"int c;\n")):
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / name).write_bytes(content)
    known = Unchanged("v1", {b"a.c": name_of(b"int a;\n"), b"b.c": name_of(b"int old;\n")})

    packed = pack(tmp_path / "tree", replace(C_FILES, unchanged=known), DirectoryBlobs(tmp_path / "blobs"))

    assert (packed.files, packed.left_out) == (2, {"not changed since v1": 1})
