"""Calls repeated in C by shadow: right bodies show no difference, wrong ones do, and no program notices."""

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots
from jarvis_workers.c2rust.shadow_log import Compared, ShadowLog, Unshadowed, read_shadow_log
from tests.support.servers import missing

DATA = Path(__file__).parents[2] / "data" / "c2rust" / "shadow"
EQUAL = {
    **{
        "add": 40,
        "count": 20,
        "push": 20,
        "pass_on": 1,
        "room": 1,
        "two_blocks": 5,
        "mean": 1,
        "half": 1,
        "out": 2,
        "make_small": 1,
    },
    **{"make_mixed": 1, "make_large": 1, "grow": 12, "drop": 1, "leak": 4, "depth": 1, "each": 1, "say": 3},
    **{"read_part": 2, "append": 5, "wide": 1, "send_signal": 1, "copy": 4, "spin": 1, "divide": 1},
    **{"local_array": 1, "late_error": 1, "dangle": 1, "clip_both": 1, "end_of_new": 1, "name_of": 2, "table_of": 1},
}
UNSHADOWED = {
    "jump": "calls longjmp",
    "threads": "makes a refused system call, signals blocked, as in pthread_create",
    "take": "reads a pipe, socket or terminal",
    "drain": "reads a pipe, socket or terminal",
    "stamp": "C differs from itself",
    "ticks": f"makes system call {228 if platform.machine() == 'x86_64' else 113}",
    "next_number": "has static locals",
    "quit": "C ends the process with exit code 0",
}
# Region, C's bytes and Rust's of the first difference.
WRONG = {
    "add": ("global total+0", 0, 1),
    "count": ("global program__hidden+0", 1, 2),
    "push": ("heap list+0>8", None, None),
    "two_blocks": ("heap result+0>8", None, None),
    "mean": ("result v0", None, None),
    "half": ("result v0", None, None),
    "out": ("stack argument 0+0", 15, 5),
    "pass_on": ("call bounded 1", 10, 11),
    "room": ("size result+0>0", None, None),
    "make_small": ("result r0", None, None),
    "make_mixed": ("result v0", None, None),
    "make_large": ("stack argument 0+24", None, None),
    "fill_padded": ("heap argument 0+0", None, None),
    "drop": ("freed block 8+0", 1, 0),
    "leak": ("blocks", 0, 1),
    "depth": ("result r0", 1000, 1001),
    "each": ("global total+0", 10, 9),
    "say": ("result r0", 6, 7),
    "read_part": ("stack argument 1+0", None, None),
    "wide": ("result r0", None, None),
    "copy": ("heap result+0>0", None, None),
    "dangle": ("global last_local+0", None, None),
    "clip_both": ("call program__clip 0", None, None),
    "name_of": ("result p0", None, None),
    "table_of": ("stack argument 0+0", None, None),
}


AARCH64 = "aarch64-linux-gnu-gcc"
EMULATOR = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")


class Built(NamedTuple):
    directory: Path
    emulator: tuple[str, ...] = ()

    def run(
        self, library: str, name: str, *arguments: str, shadow: str = "", vary: int = 0
    ) -> tuple[int, str, ShadowLog]:
        """Run a case; return exit code, output and events."""
        log = self.directory / "log"
        log.unlink(missing_ok=True)
        own = {
            "LIBRARY": f"./{library}.so",
            "RUST": "*",
            "SHADOW": shadow or slot(name),
            "SHAPES": str(DATA / "shapes.txt"),
            "LOG": str(log),
            "VARY": str(vary),
            **({"UNCONFINED": "1"} if self.emulator else {}),
        }
        variables = {f"JARVIS_C2RUST_{key}": value for key, value in own.items()}
        words = [*self.emulator, "./program", name, *arguments]
        process = subprocess.run(
            words, cwd=self.directory, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60
        )
        return process.returncode, process.stdout, read_shadow_log(log.read_bytes(), {slot(name), *shadow.split(",")})

    def output(self, name: str, *arguments: str) -> str:
        words = [*self.emulator, "./program", name, *arguments]
        return subprocess.run(words, cwd=self.directory, capture_output=True, text=True, timeout=60).stdout


def slot(name: str) -> str:
    return "program__count" if name == "count" else name


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build("gcc", Built(tmp_path_factory.mktemp("shadow")))


def build(compiler: str, built: Built) -> Built:
    for tool in (compiler, *built.emulator[:1]):
        if not shutil.which(tool):
            missing(tool)
    directory = built.directory
    own = {"JARVIS_C2RUST_CC": compiler, "JARVIS_C2RUST_ROOT": str(DATA), "JARVIS_C2RUST_CACHE": str(directory)}
    sources = [str(DATA / name) for name in ("program.c", "unit.c")]
    words = ["-O1", "-w", "-pthread", *sources, "-o", str(directory / "program")]
    assert compile_with_slots(words, {**os.environ, **own}) == 0
    for name in ("right", "wrong"):
        flags = ["-w", "-O0", "-shared", "-fPIC", "-Wl,-z,lazy"]
        subprocess.run([compiler, *flags, DATA / f"{name}.c", "-o", directory / f"{name}.so"], check=True)
    (directory / "input").write_text("abcdefghijklmnop")
    return built


def arguments_of(name: str) -> tuple[str, ...]:
    files = {"read_part": "input", "append": "appended", "end_of_new": "new"}
    return (files[name],) if name in files else ()


@pytest.mark.parametrize("name", EQUAL)
def test_a_right_body_shows_no_difference(built: Built, name: str):
    code, output, log = built.run("right", name, *arguments_of(name))

    assert (code, output) == (0, built.output(name, *arguments_of(name)))
    assert log.differences == () and log.unshadowed == ()
    assert [(one.name, one.calls) for one in log.compared] == [(slot(name), EQUAL[name])]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_body_shows_its_first_difference(built: Built, name: str):
    _, _, log = built.run("wrong", name, *arguments_of(name))

    first = next(one for one in log.differences if describe(one.region) == WRONG[name][0])
    assert first.call <= 3
    if WRONG[name][1] is not None:
        numbers = (int.from_bytes(first.c, "little"), int.from_bytes(first.rust, "little"))
        assert numbers == WRONG[name][1:]


def describe(region: object) -> str:
    kind, start, offsets = region  # type: ignore[misc]
    return f"{kind} {start}".strip() + ("+" + ">".join(map(str, offsets)) if offsets else "")


@pytest.mark.parametrize("name", UNSHADOWED)
def test_what_cannot_be_repeated_runs_as_before(built: Built, name: str):
    code, output, log = built.run("right", name)

    assert (code, output) == (0, built.output(name))
    assert log.differences == ()
    assert log.unshadowed == (Unshadowed(name, UNSHADOWED[name]),)


def test_a_new_file_is_not_created_twice(built: Built):
    code, output, log = built.run("right", "make_file", "made")

    assert (code, output) == (0, "1\n")
    assert [one.reason.rpartition(" ")[0] for one in log.unshadowed] == ["makes system call"]


def test_what_the_child_writes_does_not_reach_a_file(built: Built):
    path = built.directory / "appended once"
    built.run("right", "append", str(path))

    assert path.read_text() == "ab" * 5


def test_padding_of_a_structure_is_reported_as_bytes(built: Built):
    _, _, log = built.run("right", "fill_padded")

    assert [one.c[:1] + one.rust[:1] for one in log.differences] == [b"aa"]


def test_nested_calls_of_several_functions_are_compared(built: Built):
    code, output, log = built.run("right", "tree", shadow="add,push,each")

    assert (code, output) == (0, built.output("tree"))
    assert set(log.compared) == {Compared("push", 20, 0), Compared("each", 1, 0), Compared("add", 1, 0)}


def test_a_child_of_the_program_is_compared_as_well(built: Built):
    _, _, log = built.run("right", "forked", shadow="add")

    assert log.compared == (Compared("add", 2, 0),)


def test_registers_without_arguments_do_not_count(built: Built):
    log = built.run("right", "stray")[2]

    assert [one.calls for one in log.compared] == [1]
    assert log.differences == ()
    assert log.unshadowed == ()


def test_a_call_with_another_kind_of_argument_is_compared(built: Built):
    assert [one.call for one in built.run("wrong", "rare")[2].differences] == [1501]
    assert built.run("right", "rare")[2].differences == ()


VARIED = [
    *[("checked", {"result"}), ("filled", {"ended"}), ("guarded", {"result"}), ("behind", {"result"})],
    *[("paired", {"result"}), ("worded", {"result"})],
]


@pytest.mark.parametrize(("name", "kinds"), VARIED)
def test_calls_are_varied_where_those_of_the_program_show_no_difference(built: Built, name: str, kinds: set[str]):
    code, output, log = built.run("wrong", name, vary=96)

    assert (code, output) == (0, built.output(name))
    assert built.run("wrong", name)[2].differences == ()
    assert {one.region.kind for one in log.differences} == kinds
    assert all(one.variation for one in log.differences)
    again = built.run("wrong", name, vary=96)[2]
    assert [one.variation for one in log.differences] == [one.variation for one in again.differences]


def test_calls_of_the_program_are_compared_after_many_differences_of_varied_ones(built: Built):
    differences = built.run("wrong", "in_range", vary=256)[2].differences

    assert sum(bool(one.variation) for one in differences) >= 8
    assert any(one.call > 100 and not one.variation for one in differences)


def test_variations_name_an_address_by_the_argument_that_has_it(built: Built):
    variations = {one.variation for one in built.run("wrong", "same", vary=96)[2].differences}

    assert variations == {"argument 0 = 0", "argument 1 = argument 0"}


def test_variations_differ_between_command_lines(built: Built):
    one, other = (
        [difference.variation for difference in built.run("wrong", "checked", *words, vary=96)[2].differences]
        for words in ((), ("another",))
    )

    assert one != other


@pytest.mark.parametrize(
    "name",
    [
        *["checked", "filled", "guarded", "behind", "paired", "worded", "same", "tree", "append", "jump", "quit"],
        "has_room",
    ],
)
def test_varied_calls_of_a_right_body_show_no_difference_and_change_nothing(built: Built, name: str):
    code, output, log = built.run("right", name, *arguments_of(name), vary=96)

    assert (code, output) == (0, built.output(name, *arguments_of(name)))
    assert log.differences == ()
    assert log.compared == built.run("right", name, *arguments_of(name))[2].compared


def test_a_heap_of_100_mb_costs_less_than_a_second(built: Built):
    _, output, log = built.run("right", "touch")

    assert output == "17\n"
    assert log.compared[0].calls >= 8
    assert built.run("wrong", "touch")[2].differences


def test_aarch64_under_an_emulator(tmp_path: Path):
    built = build(AARCH64, Built(tmp_path, EMULATOR))

    for name in ("two_blocks", "mean", "say"):
        _, output, log = built.run("right", name, *arguments_of(name))
        assert output == built.output(name, *arguments_of(name))
        assert log.compared and not log.differences and not log.unshadowed, name
        assert built.run("wrong", name, *arguments_of(name))[2].differences, name
    assert built.run("right", "jump")[2].unshadowed == (Unshadowed("jump", UNSHADOWED["jump"]),)
