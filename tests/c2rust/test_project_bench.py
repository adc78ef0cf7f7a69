"""A bench builds programs with slots, runs their tests, and builds crates: all real, in the sandbox."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.line_coverage import measure_coverage
from jarvis_workers.c2rust.bench.project_bench import (
    CRATE,
    TARGET,
    CommandResult,
    ProjectBench,
    ProjectBuild,
    open_bench,
)
from jarvis_workers.c2rust.crate import CrateItem, bench_crate
from jarvis_workers.c2rust.stages.suite_runs import BenchSuites
from jarvis_workers.errors import StepFailed
from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.limits import BenchLimits, CommandLimit
from jarvis_workers.toolchain.gcov import count_lines
from tests.support.servers import require

PLAIN = Path(__file__).parents[1] / "data" / "c2rust" / "plain"
# The program that loops may reach its CPU time first, which make reports as an error.
TIMEOUTS = ["stopped at its limit of wall time", "exit code 2"]
LIMITS = BenchLimits(build_seconds=300, test_seconds=60, memory_mb=2048, disk_mb=1024)


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("cc", "make", "cargo")
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def project() -> ProjectBuild:
    return ProjectBuild(pack_project(PLAIN, 10), BuildCommands(build="make"))


@pytest.fixture
def bench(benches: Path, project: ProjectBuild) -> Iterator[ProjectBench]:
    with open_bench(benches, project, LIMITS) as bench:
        yield bench


def item(name: str, signature: str, body: str) -> CrateItem:
    return CrateItem(name, name, "words", f'pub unsafe extern "C" fn {name}{signature} {{ {body} }}')


def checksum(body: str) -> CrateItem:
    return item("words_checksum", "(mut _text: *const i8, mut _length: usize) -> u64", body)


def write(bench: ProjectBench, *items: CrateItem) -> None:
    bench.write_crate(bench_crate("", [], items))


def in_rust(bench: ProjectBench, *names: str) -> Mapping[str, str]:
    return {"JARVIS_C2RUST_LIBRARY": str(bench.library), "JARVIS_C2RUST_RUST": ",".join(names)}


def run(bench: ProjectBench, *names: str) -> CommandResult:
    return bench.test("make test", in_rust(bench, *names))


def test_tests_pass_in_c_and_name_what_they_call(bench: ProjectBench) -> None:
    done = bench.test("make test", {"JARVIS_C2RUST_TRACE": "*"})

    called = {line.split(b"\t")[3] for line in done.log.splitlines() if line.startswith(b"reached")}
    assert (done.code, done.failure) == (0, "")
    assert {b"words_read", b"words__by_length", b"check__check"} <= called
    assert b"words_unused" not in called


@pytest.mark.slow
def test_content_decides_what_is_built_again_not_time(benches: Path, bench: ProjectBench) -> None:
    write(bench, checksum("0xe40c292c"))
    assert bench.build_library()[0]
    assert run(bench, "words_checksum").failure == ""

    write(bench, checksum("0"))
    for path in benches.rglob("f_words_checksum.rs"):
        os.utime(path, (0, 0))
    assert bench.build_library()[0]

    assert run(bench, "words_checksum").failure == "exit code 2"


def test_more_names_than_a_variable_holds_are_a_file(bench: ProjectBench) -> None:
    write(bench, checksum("0"))
    assert bench.build_library()[0]
    runs = BenchSuites(bench, ["make test"])
    others = [f"function_{number}" for number in range(20_000)]

    assert runs.run(others).failure == ""
    assert runs.run([*others, "words_checksum"]).failure == "make test: exit code 2"


# Calls of `pick` with another number read past an array, which no sanitizer notices through this pointer.
TABLES = """#include <stdlib.h>
static const int upper[4] = {11, 12, 13, 14};
static const int lower[64] = {[0 ... 63] = 7};
int pick(const char *which, int at) { const int *all = *which == 'u' ? upper : lower; return all[at & 127]; }
int sign(int number) { return number < 0 ? -1 : number > 0; }
int main(int count, char **words) { return pick(count > 1 ? words[1] : "u", 0) + sign(count) == 12 ? 0 : 1; }
"""
IN_RUST = {
    "pick": "(which: *const u8, at: i32) -> i32 { unsafe { let all = if *which == b'u' { UPPER.as_ptr() } else "
    "{ LOWER.as_ptr() }; *all.offset((at & 127) as isize) } } static UPPER: [i32; 4] = [11, 12, 13, 14]; "
    "static LOWER: [i32; 64] = [7; 64];",
    "sign": "(number: i32) -> i32 { (number > 0) as i32 }",
}


@pytest.mark.slow
def test_a_varied_call_counts_only_if_c_does_the_same_with_its_variables_in_another_order(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "tables.c").write_text(TABLES)
    build = ProjectBuild(pack_project(tree, 10), BuildCommands(build="cc -O1 tables.c -o tables"))
    bodies = [CrateItem(n, n, "a", f'pub unsafe extern "C" fn {n}{body}') for n, body in IN_RUST.items()]
    shapes = "pick\tr0:0f\t0\t2\tff,0f\t12\nsign\tr0:0f\t0\t1\t0f\t0\n"
    checked_build = build._replace(kind="checked")
    with open_bench(tmp_path, checked_build, LIMITS) as checked, open_bench(tmp_path, build, LIMITS) as bench:
        bench.write_crate(bench_crate("", [], bodies, shapes=shapes))
        assert bench.build_library()[0]
        found = {
            kind: {name: BenchSuites(bench, ["./tables"], checked=one).run([name], shadow=[name]) for name in IN_RUST}
            for kind, one in (("same order", bench), ("other order", checked))
        }

    assert all(one.passed and one.compared for all_ in found.values() for one in all_.values())
    assert {kind: {name: bool(one.log) for name, one in all_.items()} for kind, all_ in found.items()} == {
        "same order": {"pick": True, "sign": True},
        "other order": {"pick": False, "sign": True},
    }


@pytest.mark.slow
def test_a_function_that_loops_ends_its_tests_early(bench: ProjectBench) -> None:
    write(bench, checksum("loop {}"))
    assert bench.build_library()[0]
    runs = BenchSuites(bench, ["make test"], {"make test": CommandLimit(1)})

    assert runs.run(["words_checksum"]).failure.removeprefix("make test: ") in TIMEOUTS


@pytest.mark.slow
def test_a_library_that_another_bench_built_later_is_not_taken_for_fresh(
    tmp_path: Path, bench: ProjectBench, project: ProjectBuild
) -> None:
    with open_bench(tmp_path, project, LIMITS) as other:
        write(other, checksum("0xe40c292c"))
        write(bench, checksum("0"))
        for path in (bench.place / CRATE).rglob("*.rs"):
            os.utime(path, (0, 0))
        assert other.build_library()[0]
        shutil.rmtree(bench.place / WORK / TARGET)
        subprocess.run(["cp", "-a", other.place / WORK / TARGET, bench.place / WORK], check=True)

    assert bench.build_library()[0]

    assert run(bench, "words_checksum").failure == "exit code 2"


@pytest.mark.slow
def test_a_failed_build_leaves_no_earlier_library(bench: ProjectBench) -> None:
    write(bench, checksum("0xe40c292c"))
    assert bench.build_library()[0]
    write(bench, checksum("true"))

    passed, messages = bench.build_library()

    assert not passed
    assert [(one.code, one.file) for one in messages if one.code] == [("E0308", "src/f_words_checksum.rs")]
    assert not bench.library.exists()


def test_a_build_that_fails_is_shown(benches: Path, project: ProjectBuild) -> None:
    broken = project._replace(commands=BuildCommands(build="make nothing"))

    with (
        pytest.raises(StepFailed, match=r"--build 'make nothing': exit code 2: .*No rule to make target"),
        open_bench(benches, broken, LIMITS),
    ):
        pass


def test_a_test_does_not_see_what_another_changed(bench: ProjectBench) -> None:
    commands = ["test ! -e check.log && make test", "rm words.h && mkdir check.log", "ln -sf / Makefile && rm -r *"]

    assert [bench.test(command, {}).failure for command in [*commands, *commands, "make test"]] == [""] * 7


@pytest.mark.slow
def test_a_test_that_uses_its_cpu_time_is_stopped(bench: ProjectBench) -> None:
    began = time.monotonic()
    done = bench.test("make test && while :; do :; done", {}, CommandLimit(600, 1))

    assert done.failure
    assert time.monotonic() - began < 300


def test_coverage_tells_which_lines_tests_run(benches: Path, project: ProjectBuild) -> None:
    coverage, reason = measure_coverage(benches, project._replace(tests=("make test",)), LIMITS)

    assert reason == ""
    assert (
        count_lines(coverage, "words.c", "words_unused").run
        == 0
        < count_lines(coverage, "words.c", "words_unused").total
    )
    assert count_lines(coverage, "words.c", "words_read").run > 0
    assert count_lines(coverage, "words.c", "absent") == (0, 0)


def test_a_build_without_coverage_is_explained(benches: Path, project: ProjectBuild) -> None:
    forbidden = "make CFLAGS=-fno-profile-arcs && ! grep -q -e --coverage ../../bin/cc"

    coverage, reason = measure_coverage(
        benches, project._replace(commands=BuildCommands(build=forbidden), tests=("make test",)), LIMITS
    )

    assert (coverage, reason.partition(":")[0]) == (
        {},
        "--build 'make CFLAGS=-fno-profile-arcs && ! grep -q -e --coverage ../../bin/cc'",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "failures"),
    [
        ("loop {}", TIMEOUTS),
        ('extern "C" { fn exit(code: i32) -> !; } exit(5)', ["exit code 2"]),
        ("panic!()", ["exit code 2"]),
        ("std::process::abort()", ["exit code 2"]),
        (
            "let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 24]); }",
            ["exit code 2", "stopped at its limit of memory"],
        ),
    ],
)
def test_a_body_that_misbehaves_ends_its_test_alone(
    benches: Path, project: ProjectBuild, body: str, failures: list[str]
) -> None:
    with open_bench(
        benches, project, LIMITS._replace(test_seconds=3 if "loop {}" in body else 60, memory_mb=1024)
    ) as bench:
        write(bench, checksum(body))
        assert bench.build_library()[0]

        assert run(bench, "words_checksum").failure in failures
        assert bench.test("make test", {}).failure == ""
