"""The filter refuses what it is to refuse, on both architectures: its program is run here step by step."""

import operator
import re
import struct
from pathlib import Path

import pytest

from jarvis_workers.sandbox import seccomp as calls
from jarvis_workers.sandbox.syscalls import ALLOWED, MACHINES, Architecture, machine_of

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
NEWEST = 7
JUMPS = {calls.JUMP_IF_EQUAL: operator.eq, calls.JUMP_IF_GREATER: operator.gt, calls.JUMP_IF_AT_LEAST: operator.ge}
RULED = {
    name
    for group in [*calls.GROUPS.values(), *calls.LOOPBACK.values(), *calls.BEFORE.values()]
    for rule in group
    for name in rule.calls.split()
}


def known(name: str) -> Architecture:
    machine = machine_of(name)
    assert machine
    return machine


def answer(program: bytes, number: int, audit: int, arguments: tuple[int, ...] = ()) -> int:
    """Do what the kernel does with a filter and a call."""
    call = struct.pack("=iIQ6Q", number, audit, 0, *(arguments + (0,) * 6)[:6])
    held = place = 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, place * 8)
        place += 1
        if code == calls.RETURN:
            return int(value)
        if code == calls.LOAD:
            held = struct.unpack_from("=I", call, value)[0]
        elif code == calls.MASK:
            held &= value
        else:
            place += yes if JUMPS[code](held, value) else no


@pytest.fixture(params=list(MACHINES))
def machine(request: pytest.FixtureRequest) -> Architecture:
    return known(request.param)


@pytest.mark.parametrize("name", list(MACHINES))
def test_the_numbers_are_the_kernel_s(name: str) -> None:
    if not HEADERS[name].exists():
        pytest.skip("the kernel's headers are not installed")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[name].read_text()))

    assert {call: found[call] for call in known(name).numbers} == {
        call: str(number) for call, number in known(name).numbers.items()
    }


@pytest.mark.parametrize(
    ("name", "arguments", "becomes"),
    [
        ("socket", (2, 1), calls.NOT_PERMITTED),
        ("socketpair", (1, 1 | 0o2000000), calls.ALLOW),
        ("socketpair", (1, 5), calls.ALLOW),
        *(("socketpair", (1, kind), calls.NOT_PERMITTED) for kind in (2, 3, 4, 6, 10)),
        ("socketpair", (2, 1), calls.NOT_PERMITTED),
        ("clone", (17,), calls.ALLOW),
        ("clone", (0x3D0F00,), calls.ALLOW),  # pthread_create of glibc
        ("clone", (0x10900,), calls.NOT_PERMITTED),
        ("clone", (0x10000011,), calls.NOT_PERMITTED),
        ("clone3", (), calls.NOT_THERE),
        ("ioctl", (0, 0x5401), calls.ALLOW),
        ("ioctl", (0, 0x5412), calls.NO_SUCH_DEVICE_CALL),
        ("ioctl", (0, 0xFFFFFFFF00005412), calls.NO_SUCH_DEVICE_CALL),
        ("fcntl", (0, 1), calls.ALLOW),
        ("fcntl", (0, 8), calls.NOT_PERMITTED),
        ("fcntl", (0, 1031), calls.NOT_PERMITTED),
        ("prlimit64", (0, 7), calls.ALLOW),
        ("prlimit64", (1, 7), calls.NOT_PERMITTED),
        ("setpriority", (0, 0), calls.ALLOW),
        ("setpriority", (1, 0), calls.NOT_PERMITTED),
        ("setpriority", (0, 5), calls.NOT_PERMITTED),
        ("fchmod", (), calls.ASK),
        ("fallocate", (), calls.NOT_SUPPORTED),
        ("flistxattr", (), calls.NOT_SUPPORTED),
        ("getxattr", (), calls.NOT_SUPPORTED),
        ("sendmsg", (3,), calls.NOT_PERMITTED),
        ("sendmsg", (calls.STATUS_DESCRIPTOR,), calls.ALLOW),
        ("sendmmsg", (calls.STATUS_DESCRIPTOR,), calls.NOT_PERMITTED),
        ("landlock_add_rule", (), calls.NOT_SUPPORTED),
        ("splice", (), calls.NOT_FOR_FILE),
        ("io_setup", (), calls.NOT_THERE),
        ("seccomp", (), calls.NOT_THERE),
        ("personality", (0xFFFFFFFF,), calls.ALLOW),
        ("personality", (0x0040000,), calls.ALLOW),
        ("personality", (0x0400000,), calls.NOT_PERMITTED),
        ("vmsplice", (), calls.NOT_THERE),
        ("mmap", (0, 4096, 3, 0x22), calls.ALLOW),
        ("mmap", (0, 4096, 3, 0x21), calls.ASK),
        ("mmap", (0, 4096, 3, 0x03), calls.ASK),
        ("setsockopt", (3, 1, 7), calls.DONE_NOTHING),
        ("setsockopt", (3, 1, 2), calls.ALLOW),
        ("flock", (3, 2), calls.ASK),
        ("fcntl", (3, 38), calls.ASK),
        ("kill", (), calls.ALLOW),
        ("openat", (0, 0, 0o1000), calls.ALLOW),
    ],
)
def test_a_call_gets_its_answer(name: str, arguments: tuple[int, ...], becomes: int, machine: Architecture) -> None:
    program = calls.program(machine, NEWEST)

    assert answer(program, machine.numbers[name], machine.audit, arguments) == becomes


@pytest.mark.parametrize(
    ("name", "arguments", "becomes"),
    [
        ("socket", (2, 1, 0), calls.ALLOW),
        ("socket", (10, 2 | 0o2004000, 17), calls.ALLOW),
        ("socket", (1, 1, 0), calls.NOT_PERMITTED),
        ("socket", (16, 3, 0), calls.NOT_PERMITTED),
        ("socket", (2, 3, 1), calls.NOT_PERMITTED),
        ("socket", (2, 2, 1), calls.NOT_PERMITTED),
        ("socket", (2, 1, 262), calls.NOT_PERMITTED),
        ("socketpair", (1, 1), calls.NOT_PERMITTED),
        ("bind", (), calls.ALLOW),
        ("sendmsg", (3,), calls.ALLOW),
        ("setsockopt", (3, 1, 7), calls.DONE_NOTHING),
        ("setsockopt", (3, 6, 31), calls.NOT_PERMITTED),
        ("setsockopt", (3, 6, 1), calls.ALLOW),
        ("exit_group", (1,), calls.ASK),
        ("ptrace", (), calls.NOT_PERMITTED),
        ("splice", (), calls.NOT_FOR_FILE),
    ],
)
def test_on_loopback_there_are_tcp_and_udp_and_no_other_sockets(
    name: str, arguments: tuple[int, ...], becomes: int, machine: Architecture
) -> None:
    program = calls.program(machine, NEWEST, loopback=True)

    assert answer(program, machine.numbers[name], machine.audit, arguments) == becomes


@pytest.mark.parametrize(
    ("name", "arguments", "version", "becomes"),
    [
        ("kill", (), 5, calls.ASK),
        ("kill", (), 6, calls.ALLOW),
        ("truncate", (), 2, calls.NOT_PERMITTED),
        ("truncate", (), 3, calls.ALLOW),
        ("openat", (0, 0, 0o1000), 2, calls.NOT_PERMITTED),
        ("openat", (0, 0, 0o1001), 2, calls.ALLOW),
        ("openat2", (), 2, calls.NOT_THERE),
    ],
)
def test_what_an_older_landlock_does_not_know_is_refused_here(
    name: str, arguments: tuple[int, ...], version: int, becomes: int, machine: Architecture
) -> None:
    program = calls.program(machine, version)

    assert answer(program, machine.numbers[name], machine.audit, arguments) == becomes


def test_calls_of_another_architecture_end_the_process(machine: Architecture) -> None:
    assert answer(calls.program(machine, NEWEST), 1, 0x40000003) == calls.KILL


@pytest.mark.parametrize("number", [452, 4000, 0x40000000 | 39, 0x7FFFFFFF])
def test_a_call_that_is_newer_than_the_list_is_not_there(number: int, machine: Architecture) -> None:
    assert answer(calls.program(machine, NEWEST), number, machine.audit) == calls.NOT_THERE


def test_the_calls_of_the_list_are_allowed_or_have_a_rule_and_all_others_are_not_there(machine: Architecture) -> None:
    program = calls.program(machine, NEWEST)
    rules = {machine.numbers[name] for name in RULED if name in machine.numbers}
    listed = {machine.numbers[name] for name in ALLOWED if name in machine.numbers}
    answers = {number: answer(program, number, machine.audit) for number in range(600) if number not in rules}

    assert {number for number, what in answers.items() if what == calls.ALLOW} == listed - rules
    assert {what for number, what in answers.items() if number not in listed} == {calls.NOT_THERE}


def test_without_the_list_a_call_that_has_no_rule_is_allowed(machine: Architecture) -> None:
    assert answer(calls.program(machine, NEWEST, [calls.NUMBERS]), 4000, machine.audit) == calls.ALLOW


def test_every_call_of_a_rule_and_of_the_list_has_a_number() -> None:
    assert set(known("x86_64").numbers) == RULED | ALLOWED


def test_a_group_can_be_left_out(machine: Architecture) -> None:
    program = calls.program(machine, NEWEST, ["network"])

    assert answer(program, machine.numbers["socket"], machine.audit) == calls.ALLOW


def test_other_architectures_are_not_known() -> None:
    assert machine_of("riscv64") is None
