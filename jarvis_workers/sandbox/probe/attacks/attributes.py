"""Attacks on the mode, times and attributes of files outside the scratch directory; Landlock does not control them."""

import ctypes
import fcntl
import os
import signal
import stat
import struct
import time

from jarvis_workers.sandbox.probe.attacks.target import Target, call, write

MODE = 0o640
GET_FLAGS, SET_FLAGS, NO_DUMP = 0x80086601, 0x40086602, 0x40
SET_ATTRIBUTES, SET_XATTR_AT = 469, 463
RACING_SECONDS = 0.4


def _mode(path: str) -> bool:
    return stat.S_IMODE(os.stat(path).st_mode) == MODE


def change_the_mode(t: Target) -> bool:
    os.chmod(t.inside(change_the_mode), MODE)
    return _mode(t.inside(change_the_mode))


def change_the_mode_outside(t: Target) -> bool:
    os.chmod(t.out(change_the_mode_outside), MODE)
    return _mode(t.out(change_the_mode_outside))


def change_the_mode_of_a_descriptor(t: Target) -> bool:
    os.fchmod(os.open(t.inside(change_the_mode_of_a_descriptor), os.O_RDONLY), MODE)
    return _mode(t.inside(change_the_mode_of_a_descriptor))


def change_the_mode_beside_a_directory(t: Target) -> bool:
    place = os.open(t.tree, os.O_PATH)
    os.chmod("change_the_mode_beside_a_directory", MODE, dir_fd=place)
    return _mode(t.inside(change_the_mode_beside_a_directory))


def change_the_mode_through_proc(t: Target) -> bool:
    descriptor = os.open(t.inside(change_the_mode_through_proc), os.O_RDONLY)
    os.chmod(f"/proc/self/fd/{descriptor}", MODE)
    return _mode(t.inside(change_the_mode_through_proc))


def change_the_mode_through_a_link(t: Target) -> bool:
    os.symlink(t.out(change_the_mode_through_a_link), t.own(change_the_mode_through_a_link))
    os.chmod(t.own(change_the_mode_through_a_link), MODE)
    return _mode(t.out(change_the_mode_through_a_link))


def change_the_mode_in_a_race(t: Target) -> bool:
    """Replace a file of the command with a link to a foreign file while its mode is being changed."""
    place, victim = t.own(change_the_mode_in_a_race), t.out(change_the_mode_in_a_race)
    write(place)
    swapping = os.fork()
    while not swapping:
        os.symlink(victim, place + ".new")
        os.rename(place + ".new", place)
        write(place + ".new")
        os.rename(place + ".new", place)
    end = time.monotonic() + RACING_SECONDS
    while time.monotonic() < end:
        try:
            os.chmod(place, MODE)
        except OSError:
            continue
    os.kill(swapping, signal.SIGKILL)
    return _mode(victim)


def make_a_file_set_its_user(t: Target) -> bool:
    write(t.own(make_a_file_set_its_user))
    os.chmod(t.own(make_a_file_set_its_user), 0o4755)
    return bool(os.stat(t.own(make_a_file_set_its_user)).st_mode & stat.S_ISUID)


def change_the_times(t: Target) -> bool:
    os.utime(t.inside(change_the_times), (1, 1))
    return os.stat(t.inside(change_the_times)).st_mtime == 1


def change_the_times_of_a_descriptor(t: Target) -> bool:
    os.utime(os.open(t.inside(change_the_times_of_a_descriptor), os.O_RDONLY), (1, 1))
    return os.stat(t.inside(change_the_times_of_a_descriptor)).st_mtime == 1


def change_the_times_outside(t: Target) -> bool:
    os.utime(t.out(change_the_times_outside), (1, 1))
    return os.stat(t.out(change_the_times_outside)).st_mtime == 1


def change_the_times_in_the_old_way(t: Target) -> bool:
    call("utimes", t.inside(change_the_times_in_the_old_way).encode(), struct.pack("4q", 1, 0, 1, 0))
    return os.stat(t.inside(change_the_times_in_the_old_way)).st_mtime == 1


def set_an_attribute(t: Target) -> bool:
    os.setxattr(t.inside(set_an_attribute), "user.probe", b"1")
    return True


def set_an_attribute_of_a_descriptor(t: Target) -> bool:
    os.setxattr(os.open(t.inside(set_an_attribute_of_a_descriptor), os.O_RDONLY), "user.probe", b"1")
    return True


def set_an_attribute_outside(t: Target) -> bool:
    os.setxattr(t.out(set_an_attribute_outside), "user.probe", b"1")
    return True


def remove_an_attribute(t: Target) -> bool:
    os.removexattr(f"{t.tree}/with_attribute", "user.kept")
    return True


def change_the_owner(t: Target) -> bool:
    os.chown(t.inside(change_the_owner), -1, os.stat(t.inside(change_the_owner)).st_gid)
    return True


def change_the_flags_of_a_file(t: Target) -> bool:
    descriptor = os.open(t.inside(change_the_flags_of_a_file), os.O_RDONLY)
    flags = struct.unpack("i", fcntl.ioctl(descriptor, GET_FLAGS, b"\0" * 4))[0]
    fcntl.ioctl(descriptor, SET_FLAGS, struct.pack("i", flags | NO_DUMP))
    return True


def change_the_flags_in_the_new_way(t: Target) -> bool:
    path, size = t.inside(change_the_flags_in_the_new_way).encode(), 24
    attributes = ctypes.create_string_buffer(size)
    call(SET_ATTRIBUTES - 1, -100, path, attributes, size, 0)
    call(SET_ATTRIBUTES, -100, path, attributes, size, 0)
    return True


def set_an_attribute_in_the_new_way(t: Target) -> bool:
    value = ctypes.create_string_buffer(b"1")
    passed = struct.pack("QII", ctypes.addressof(value), 1, 0)
    call(SET_XATTR_AT, -100, t.inside(set_an_attribute_in_the_new_way).encode(), 0, b"user.probe", passed, len(passed))
    return True


def read_an_attribute_outside(t: Target) -> bool:
    return os.getxattr(f"{t.outside}/with_attribute", "user.kept") == t.secret.encode()


def read_an_attribute_of_a_link(t: Target) -> bool:
    place = f"{t.outside}/with_attribute"
    return os.getxattr(place, "user.kept", follow_symlinks=False) == t.secret.encode()


def list_attributes_outside(t: Target) -> bool:
    return bool(os.listxattr(f"{t.outside}/with_attribute"))


def list_attributes_of_a_descriptor(t: Target) -> bool:
    return bool(os.listxattr(os.open(f"{t.tree}/with_attribute", os.O_RDONLY)))
