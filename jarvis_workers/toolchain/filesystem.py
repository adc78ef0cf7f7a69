"""Say whether a path lies on a network file system, where SQLite's locks cannot be trusted.

The kernel's list of mounts decides: the longest mount point above the path wins, and of two
mounts on one point the later.  Where there is no such list, nothing is known and nothing refused.
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
    """Return the kind of network file system that holds `path` ("nfs4"), or None if it is local.

    The path need not exist yet.  `mounts` is the text of /proc/self/mountinfo, which is read when not given.
    """
    kind = file_system(path, mounts)
    return kind if kind in NETWORK_TYPES else None


def file_system(path: Path, mounts: str | None = None) -> str | None:
    """Return the kind of file system that holds `path`, or None where that cannot be known."""
    where = path.resolve()
    best, kind = -1, None
    for line in (_read_mounts() if mounts is None else mounts).split("\n"):
        point, found = _mount(line)
        if point is not None and where.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), found
    return kind


def _read_mounts() -> str:
    return os.fsdecode(MOUNTS.read_bytes()) if MOUNTS.exists() else ""


def _mount(line: str) -> tuple[Path | None, str | None]:
    """A line is `36 35 98:0 /root /point options [optional ...] - type source options`, spaces as \\040."""
    head, dash, tail = line.partition(" - ")
    fields = head.split(" ")
    if not dash or len(fields) < 5:
        return None, None
    point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
    return Path(point), tail.split(" ")[0]
