"""Attacks that read secrets: environment, files and memory of other processes."""

import ctypes
import os
import struct
from collections.abc import Iterator

from jarvis_workers.sandbox.probe.attacks.target import SECRET_ARGUMENT, Target, call, read

MOST_DESCRIPTORS = 1024


def read_a_file_outside(t: Target) -> bool:
    return t.secret in read(f"{t.outside}/secret")


def list_a_directory_outside(t: Target) -> bool:
    return bool(os.listdir(t.outside))


def read_through_a_link_in_the_tree(t: Target) -> bool:
    return t.secret in read(f"{t.tree}/link_to_secret")


def read_through_the_root_of_proc(t: Target) -> bool:
    return t.secret in read(f"/proc/self/root{t.outside}/secret")


def read_the_list_of_users(_: Target) -> bool:
    return ":" in read("/etc/passwd")


def copy_a_file_outside(t: Target) -> bool:
    os.link(f"{t.outside}/secret", t.own("copied"))
    return t.secret in read(t.own("copied"))


def run_a_program_outside(t: Target) -> bool:
    if not (child := os.fork()):
        try:
            os.execve(f"{t.outside}/program", ["program"], {})
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def read_the_environment(t: Target) -> bool:
    return any(t.secret in value for value in os.environ.values())


def read_all_environments(t: Target) -> bool:
    return any(t.secret in content for content in _of_all_processes("environ"))


def read_the_environment_of_the_first_process(_: Target) -> bool:
    return bool(read("/proc/1/environ"))


def read_all_command_lines(t: Target) -> bool:
    return any(t.secret + SECRET_ARGUMENT in content for content in _of_all_processes("cmdline"))


def read_through_the_descriptors_of_a_process(t: Target) -> bool:
    return t.secret in read(f"/proc/{t.process}/fd/{t.secret_descriptor}")


def read_in_the_directory_of_a_process(t: Target) -> bool:
    return t.secret in read(f"/proc/{t.process}/cwd/secret")


def read_the_map_of_a_process(t: Target) -> bool:
    return bool(read(f"/proc/{t.process}/maps"))


def read_the_memory_of_a_process(t: Target) -> bool:
    place = _some_address(t.process)
    with open(f"/proc/{t.process}/mem", "rb", buffering=0) as memory:
        memory.seek(place)
        return len(memory.read(8)) == 8


def read_the_memory_of_the_keeper(t: Target) -> bool:
    """Read the memory of the parent process, which is not confined in the sandbox."""
    return _read_memory(t.parent)


def copy_the_memory_of_a_process(t: Target) -> bool:
    return _read_memory(t.process)


def copy_the_memory_of_a_child(_: Target) -> bool:
    if not (child := os.fork()):
        while True:
            os.sched_yield()
    try:
        return _read_memory(child)
    finally:
        os.kill(child, 9)


def use_inherited_descriptors(_: Target) -> bool:
    return any(_is_open(number) for number in range(3, MOST_DESCRIPTORS))


def take_a_descriptor_of_a_process(t: Target) -> bool:
    return call("pidfd_getfd", os.pidfd_open(t.process), t.secret_descriptor, 0) > 0


def take_a_descriptor_of_a_child(_: Target) -> bool:
    reading, _writing = os.pipe()
    if not (child := os.fork()):
        while True:
            os.sched_yield()
    try:
        return call("pidfd_getfd", os.pidfd_open(child), reading, 0) > 0
    finally:
        os.kill(child, 9)


def _of_all_processes(name: str) -> Iterator[str]:
    for process in os.listdir("/proc"):
        try:
            if process.isdecimal() and int(process) != os.getpid():
                yield read(f"/proc/{process}/{name}")
        except OSError:
            continue


def _some_address(process: int) -> int:
    for line in read(f"/proc/{process}/maps").splitlines():
        if " r" in line:
            return int(line.split("-")[0], 16)
    raise OSError("no memory")


def _read_memory(process: int) -> bool:
    place, content = _some_address(process), ctypes.create_string_buffer(8)
    ours = struct.pack("QQ", ctypes.addressof(content), 8)
    return call("process_vm_readv", process, ours, 1, struct.pack("QQ", place, 8), 1, 0) == 8


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
