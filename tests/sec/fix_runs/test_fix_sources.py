"""The sources of `jarvis sec fix` without a repository: files and links of the directory, and nothing else."""

import gzip
import io
import os
import tarfile
from pathlib import Path

from jarvis_workers.sec.fix_runs.fix_sources import pack_directory
from jarvis_workers.toolchain.gittree import TreeBounds


def test_an_archive_has_files_and_links_but_no_pipes_and_no_directories_of_version_control(tmp_path: Path) -> None:
    for name in ("src/name.c", ".git/config"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("int one;\n")
    os.mkfifo(tmp_path / "src/pipe.c")
    (tmp_path / "link.c").symlink_to("src/name.c")

    archive = pack_directory(tmp_path, TreeBounds())

    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as tar:
        entries = {entry.name: (entry.isreg(), entry.linkname, entry.size) for entry in tar}
    assert entries == {"src/name.c": (True, "", 9), "link.c": (False, "src/name.c", 0)}
