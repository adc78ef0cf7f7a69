"""Detect paths on network file systems, where SQLite's locks are unreliable.

The file system is looked up in the kernel's mount table: the longest mount point above the path wins, and the later of
two mounts on the same point. Without a mount table, the file system is unknown and no path is rejected.
"""

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
# fmt: off
NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.ceph", "fuse.davfs", "fuse.gcsfuse",
    "fuse.glusterfs", "fuse.goofys", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gfs2", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb2", "smb3", "smbfs", "vboxsf",
})
# fmt: on


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the type of the network file system that holds `path` ("nfs4"), or None if it is local or unknown.

    The path need not exist yet. `mounts` is the text of a mount table, by default /proc/self/mountinfo.
    """
    kind = file_system(path, mounts)
    return kind if kind in NETWORK_TYPES else None


def file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the type of the file system that holds `path`, or None if it is unknown."""
    where = path.resolve()
    best, kind = -1, None
    for line in (_read_mounts() if mounts is None else mounts).split("\n"):
        point, result = _mount(line)
        if point is not None and where.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), result
    return kind


def _read_mounts() -> str:
    return os.fsdecode(MOUNTS.read_bytes()) if MOUNTS.exists() else ""


def _mount(line: str) -> tuple[Path | None, str | None]:
    """Parse a line `36 35 98:0 /root /point options [optional ...] - type source options`; spaces are octal escapes."""
    head, dash, tail = line.partition(" - ")
    fields = head.split(" ")
    if not dash or len(fields) < 5:
        return None, None
    point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
    return Path(point), tail.split(" ")[0]
