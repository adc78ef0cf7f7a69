"""The archive of a project: everything that a build may need, the same bytes for the same tree."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.errors import UsageError


def tree(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text("secret")
    (root / "src").mkdir()
    (root / "configure").write_text("#!/bin/sh\n")
    (root / "configure").chmod(0o755)
    (root / "src" / "a b\n.c").write_text("int a;\n")
    (root / "link").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    os.utime(root / "configure", (1_000_000_000, 1_000_000_000))
    return root


def test_modes_times_and_links_stay(tmp_path: Path) -> None:
    content = pack_project(tree(tmp_path / "a"), 1)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        entries = {entry.name: entry for entry in archive}

    assert sorted(entries) == ["configure", "link", "src", "src/a b\n.c"]
    assert (entries["configure"].mode, entries["configure"].mtime) == (0o755, 1_000_000_000)
    assert (entries["link"].linkname, entries["link"].uname, entries["link"].uid) == ("/etc", "", 0)


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    root = tree(tmp_path / "a")
    assert pack_project(root, 1) == pack_project(root, 1)


def test_a_tree_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(1_000_001))
    with pytest.raises(UsageError, match=r"more than 1 MB or 500000 files; raise c2rust.build_disk_mb"):
        pack_project(tmp_path, 1)
