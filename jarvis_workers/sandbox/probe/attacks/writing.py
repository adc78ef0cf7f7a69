"""Attacks that modify files outside the scratch directory."""

import ctypes
import fcntl
import os
import struct

from jarvis_workers.sandbox.probe.attacks.target import Target, call, write

OUT_OF_THE_WAY = "taken"


def write_outside(t: Target) -> bool:
    return write(t.out(write_outside))


def append_outside(t: Target) -> bool:
    return write(t.out(append_outside), mode="a")


def create_outside(t: Target) -> bool:
    return write(t.out("created"))


def write_to_the_tree(t: Target) -> bool:
    return write(t.inside(write_to_the_tree))


def create_in_the_tree(t: Target) -> bool:
    return write(t.inside("created"))


def write_through_a_directory_descriptor(t: Target) -> bool:
    place = os.open(t.tree, os.O_PATH)
    return os.write(os.open("write_through_a_directory_descriptor", os.O_WRONLY, dir_fd=place), b"changed") > 0


def climb_out_of_the_tree(t: Target) -> bool:
    return write(f"{t.tree}/../{os.path.basename(t.outside)}/climb_out_of_the_tree")


def reopen_for_writing(t: Target) -> bool:
    descriptor = os.open(t.inside(reopen_for_writing), os.O_RDONLY)
    return write(f"/proc/self/fd/{descriptor}")


def truncate_by_name(t: Target) -> bool:
    os.truncate(t.inside(truncate_by_name), 1)
    return True


def truncate_when_opening_to_read(t: Target) -> bool:
    os.open(t.inside(truncate_when_opening_to_read), os.O_RDONLY | os.O_TRUNC)
    return os.stat(t.inside(truncate_when_opening_to_read)).st_size == 0


def remove_outside(t: Target) -> bool:
    os.unlink(t.out(remove_outside))
    return True


def remove_in_the_tree(t: Target) -> bool:
    os.unlink(t.inside(remove_in_the_tree))
    return True


def rename_in_the_tree(t: Target) -> bool:
    os.rename(t.inside(rename_in_the_tree), t.inside(OUT_OF_THE_WAY))
    return True


def rename_out_of_the_tree(t: Target) -> bool:
    os.rename(t.inside(rename_out_of_the_tree), t.own(rename_out_of_the_tree))
    return True


def rename_over_a_file_outside(t: Target) -> bool:
    write(t.own(rename_over_a_file_outside))
    os.rename(t.own(rename_over_a_file_outside), t.out(rename_over_a_file_outside))
    return True


def hard_link_and_write(t: Target) -> bool:
    os.link(t.out(hard_link_and_write), t.own(hard_link_and_write))
    return write(t.own(hard_link_and_write))


def hard_link_of_the_tree(t: Target) -> bool:
    os.link(t.inside(hard_link_of_the_tree), t.own(hard_link_of_the_tree))
    return True


def symbolic_link_and_write(t: Target) -> bool:
    os.symlink(t.out(symbolic_link_and_write), t.own(symbolic_link_and_write))
    return write(t.own(symbolic_link_and_write))


def make_a_link_outside(t: Target) -> bool:
    os.symlink("/", t.out("made_a_link"))
    return True


def make_a_directory_outside(t: Target) -> bool:
    os.mkdir(t.out("made_a_directory"))
    return True


def remove_a_directory_outside(t: Target) -> bool:
    os.rmdir(f"{t.outside}/empty")
    return True


def make_a_pipe_in_the_tree(t: Target) -> bool:
    os.mkfifo(t.inside("made_a_pipe"))
    return True


def install_a_git_hook(t: Target) -> bool:
    return write(f"{t.tree}/.git/hooks/pre-commit")


def change_the_git_configuration(t: Target) -> bool:
    return write(f"{t.tree}/.git/config", "[core]\n\tfsmonitor = false\n", mode="a")


def change_a_start_file(t: Target) -> bool:
    return write(f"{t.outside}/.bashrc", "true\n", mode="a")


def use_shared_memory_files(_: Target) -> bool:
    path = f"/dev/shm/jarvis-probe-{os.getpid()}"
    write(path)
    os.unlink(path)
    return True


def space_for_a_file_outside(t: Target) -> bool:
    descriptor = os.open(t.out(space_for_a_file_outside), os.O_RDWR)
    os.posix_fallocate(descriptor, 0, 4096)
    return True


def take_space_in_an_instant(t: Target) -> bool:
    descriptor = os.open(t.own(take_space_in_an_instant), os.O_WRONLY | os.O_CREAT)
    call("fallocate", descriptor, 0, 0, 1 << 20)
    return os.fstat(descriptor).st_blocks > 0


def lock_a_file_of_the_tree(t: Target) -> bool:
    fcntl.flock(os.open(t.inside(lock_a_file_of_the_tree), os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def lock_part_of_a_file_of_the_tree(t: Target) -> bool:
    descriptor = os.open(t.inside(lock_part_of_a_file_of_the_tree), os.O_RDONLY)
    fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, 1)
    return True


def handle_of_a_file_outside(t: Target) -> bool:
    handle, mount = ctypes.create_string_buffer(struct.pack("I", 128), 136), ctypes.create_string_buffer(8)
    call("name_to_handle_at", -100, t.out(handle_of_a_file_outside).encode(), handle, mount, 0)
    return True
