"""Generated and mutated C ends no worker: each unit is read, has errors, or is lost alone with the reason."""

import random
import resource
import shutil
from collections import Counter
from pathlib import Path

import pytest

from jarvis_workers.builds.unit_forks import UnitLimits, UnitNotRead, read_units
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.clang.unit_json import decode_unit, encode_unit
from jarvis_workers.toolchain.headers import builtin_headers
from tests.c2rust.stages.generated_units import CSMITH_HEADER, csmith_program, mutated
from tests.source.clang.test_facts import CONSTRUCTS
from tests.support.servers import missing

LIMITS = UnitLimits(seconds=30, memory_mb=1000)


def written(root: Path, sources: list[bytes]) -> list[CompileCommand]:
    (root / "csmith.h").write_text(CSMITH_HEADER)
    for number, source in enumerate(sources):
        (root / f"{number}.c").write_bytes(source)
    return [CompileCommand(b"%d.c" % number, b"", ()) for number in range(len(sources))]


def outcome(result: bytes | UnitNotRead) -> str:
    """Return "read", "errors", or why the unit was not read; a unit must survive its JSON."""
    if isinstance(result, UnitNotRead):
        assert result.reason
        assert "Error" not in result.reason  # an exception of ours
        return result.reason
    unit = decode_unit(result)
    assert encode_unit(unit) == result
    keys = {symbol.key for symbol in unit.symbols} | {key for key, _ in unit.externals}
    assert {key for one in unit.references for key in (one.source, one.target)} <= keys
    return "errors" if unit.errors else "read"


def outcomes(root: Path, sources: list[bytes]) -> Counter[str]:
    commands = written(root, sources)
    return Counter(map(outcome, read_units(root, commands, builtin_headers(None), LIMITS)))


def mutants(count: int, originals: list[bytes]) -> list[bytes]:
    chance = random.Random(16)
    return [mutated(chance.choice(originals), originals, chance) for _ in range(count)]


@pytest.mark.slow
def test_mutated_constructs(tmp_path: Path) -> None:
    sources = mutants(60, [source.encode() for source, _ in CONSTRUCTS.values()])
    counts = outcomes(tmp_path, sources)

    assert counts.total() == 60
    assert counts["errors"] > 10
    assert counts["read"]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("programs", "changed"), [(4, 80), pytest.param(300, 1700, marks=[pytest.mark.long, pytest.mark.timeout(7200)])]
)
def test_generated_and_mutated_programs(tmp_path: Path, programs: int, changed: int) -> None:
    if not shutil.which("csmith"):
        missing("csmith")
    # Forks begin with the memory of this process; those of earlier tests count as well.
    bound = max(children_mb(), memory_mb(resource.RUSAGE_SELF) + LIMITS.memory_mb * 1.5)
    generated = [csmith_program(seed, tmp_path) for seed in range(programs)]
    constructs = [source.encode() for source, _ in CONSTRUCTS.values()]

    assert outcomes(tmp_path, generated) == {"read": programs}  # csmith writes valid C
    counts = outcomes(tmp_path, mutants(changed, [*generated[:20], *constructs]))
    print(f"{programs} programs read; {changed} mutants: {dict(counts)}; {children_mb():.0f} MB")
    assert counts.total() == changed
    assert children_mb() <= bound


def children_mb() -> float:
    return memory_mb(resource.RUSAGE_CHILDREN)


def memory_mb(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1000
