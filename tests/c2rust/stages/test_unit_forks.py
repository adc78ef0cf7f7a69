"""Units are read in processes of their own: what crashes, hangs or grows costs one unit, with the reason."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_declared_functions, read_units
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import decode_unit
from jarvis_workers.toolchain.headers import builtin_headers

pytestmark = pytest.mark.timing

GOOD = "int good(void) { return 1; }\n"
# Each needs a deep recursion, which clang does not bound.
DEEP_OPERATORS = f"int f(int x) {{ return {'-~' * 300_000}x; }}\n"
DEEP_STATEMENTS = f"int f(int x) {{ {'if (x) ' * 200_000}x; }}\n"
# 8 ** 9 initialisers.
BOMB = "#define A0 1,1,1,1,1,1,1,1\n" + "".join(f"#define A{n + 1} {','.join([f'A{n}'] * 8)}\n" for n in range(9))
LIMITS = UnitLimits(seconds=60, memory_mb=1000)


def outcomes(root: Path, sources: Sequence[str], limits: UnitLimits = LIMITS) -> list[str]:
    """Return what became of each source: its functions, or the reason why it was not read."""
    for number, source in enumerate(sources):
        (root / f"{number}.c").write_text(source)
    commands = [CompileCommand(b"%d.c" % number, b"", ()) for number in range(len(sources))]
    results = read_units(root, commands, builtin_headers(None), limits)
    return [
        result.reason
        if isinstance(result, UnitNotRead)
        else " ".join(symbol.name for symbol in decode_unit(result).symbols)
        for result in results
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", [DEEP_OPERATORS, DEEP_STATEMENTS])
def test_a_unit_that_crashes_libclang_is_lost_alone(tmp_path: Path, source: str) -> None:
    assert outcomes(tmp_path, [GOOD, source, GOOD]) == ["good", "its process was killed by SIGSEGV", "good"]


@pytest.mark.slow
def test_a_unit_that_needs_too_much_memory_is_lost_alone(tmp_path: Path) -> None:
    limits = LIMITS._replace(memory_mb=200)
    assert outcomes(tmp_path, [f"{BOMB}int x[] = {{ A7 }};\n", GOOD], limits) == [
        "exceeded the memory limit of 200 MB",
        "good",
    ]


@pytest.mark.slow
def test_a_unit_that_reads_without_end_is_lost_alone(tmp_path: Path) -> None:
    limits = LIMITS._replace(memory_mb=200)
    assert outcomes(tmp_path, ['#include "/dev/zero"\n', GOOD], limits) == [
        "exceeded the memory limit of 200 MB",
        "good",
    ]


@pytest.mark.slow
def test_a_unit_that_needs_too_much_time_is_lost_alone(tmp_path: Path) -> None:
    limits = UnitLimits(seconds=0.5, memory_mb=4000)
    assert outcomes(tmp_path, [f"{BOMB}int x[] = {{ A9, A9, A9 }};\n", GOOD], limits) == [
        "exceeded the CPU limit of 0.5 s",
        "good",
    ]


@pytest.mark.slow
def test_a_unit_that_waits_for_ever_is_lost_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "waiting.h")
    monkeypatch.setattr("jarvis_workers.builds.unit_forks.WALL_FACTOR", 0)
    monkeypatch.setattr("jarvis_workers.builds.unit_forks.WALL_SECONDS", 0.5)

    first, _ = outcomes(tmp_path, ['#include "waiting.h"\n', GOOD])
    assert first == "exceeded the limit of 0.5 s"


def test_a_unit_waits_for_no_input(tmp_path: Path) -> None:
    assert outcomes(tmp_path, ['#include "/dev/stdin"\n' + GOOD]) == ["good"]


def test_a_unit_that_does_not_exist_has_an_error(tmp_path: Path) -> None:
    commands = [CompileCommand(b"absent.c", b"", ())]

    assert list(read_units(tmp_path, commands, builtin_headers(None), LIMITS)) == [
        UnitNotRead("the file does not exist")
    ]


def test_a_header_that_crashes_libclang_is_lost_alone(tmp_path: Path) -> None:
    for name, words in (("a.h", "int a(void), b(void);"), ("deep.h", DEEP_OPERATORS), ("c.h", "int c(void);")):
        (tmp_path / name).write_text(words)

    files = [b"a.h", b"deep.h", b"c.h"]
    assert list(read_declared_functions(tmp_path, files, (), builtin_headers(None), LIMITS)) == [
        ("a", "b"),
        UnitNotRead("its process was killed by SIGSEGV"),
        ("c",),
    ]
