"""Which mount holds a path, and whether it is a network's."""

from pathlib import Path

import pytest

from jarvis_workers.toolchain.filesystem import file_system, network_file_system

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:40 / /net rw,relatime shared:2 master:1 - nfs4 server:/export rw
41 40 8:2 / /net/local rw - xfs /dev/sdb rw
42 22 0:42 / /my\040share rw - cifs //server/share rw
43 22 0:43 / /twice rw - nfs a:/ rw
44 22 0:44 / /twice rw - tmpfs tmpfs rw
45 22 0:45 / /ssh rw - fuse.sshfs me@host: rw
this line is not one of them
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/jarvis.db", None),
        ("/net/data/not/there/yet", "nfs4"),
        ("/network", None),
        ("/net/local/data", None),
        ("/my share/data", "cifs"),
        ("/twice/data", None),
        ("/ssh", "fuse.sshfs"),
    ],
)
def test_the_nearest_mount_decides(path, kind):
    assert network_file_system(Path(path), MOUNTS) == kind


def test_a_link_is_followed_to_where_it_leads(tmp_path):
    (tmp_path / "link").symlink_to("/net/data")

    assert network_file_system(tmp_path / "link" / "jarvis.db", MOUNTS) == "nfs4"


def test_nothing_is_known_without_a_list_of_mounts():
    assert file_system(Path("/home"), "") is None


def test_the_kernels_own_list_is_read():
    assert file_system(Path("/proc/self")) == "proc"
