"""`jarvis c2rust fast` on sources, builds and tests that are hard to convert: all are real, in the sandbox."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Ended, Jarvis
from tests.support.servers import require

HARD = Path(__file__).parents[1] / "data" / "c2rust" / "hard"
QEMU = "qemu-aarch64 -L /usr/aarch64-linux-gnu"
pytestmark = pytest.mark.slow


@pytest.fixture
def hard(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    return Path(shutil.copytree(HARD, jarvis.place / "hard"))


def convert(jarvis: Jarvis, hard: Path, *tests: str, build: str = "make", **environment: str) -> Ended:
    words = [word for test in tests for word in ("--test", test)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        return jarvis.spawn("c2rust", "fast", "-p", hard, "--build", build, *words, stdin=subprocess.DEVNULL)


def states(hard: Path) -> dict[str, tuple[str, str, str]]:
    lines = (hard / ".jarvis" / "c2rust" / "symbol_map.jsonl").read_text().splitlines()
    return {one["c_name"]: (one["state"], one["proof"], one["rust_symbol"]) for one in map(json.loads, lines)}


def test_hard_constructs_are_translated_or_refused_by_name(jarvis: Jarvis, hard: Path) -> None:
    tests = (f"./check {name}" for name in ("constructs", "children", "threads", "terminal"))
    ended = convert(jarvis, hard, *tests)

    found = states(hard)
    assert ended.code == 3, ended.err
    assert "guarded: A function that returns twice, such as setjmp or vfork, cannot be called from Rust" in ended.out
    assert "assembled: Inline assembly is written for a C compiler (line 23: inline_asm)" in ended.out
    for name in ("jump", "into_loop", "duff", "computed", "statements", "shared"):
        assert found[name] == ("mechanical", "compared", name)
    for name in ("loop", "match", "unsafe"):
        assert found[name] == ("mechanical", "compared", f"r#{name}")
    for name in ("children", "threads", "work", "terminal", "main"):
        assert found[name][0] == "mechanical"
    subprocess.run(["cargo", "build", "--quiet", "--offline"], cwd=hard.with_name("hard_rs"), check=True)


def test_calls_are_not_compared_in_tests_that_differ_from_run_to_run(jarvis: Jarvis, hard: Path) -> None:
    ended = convert(jarvis, hard, "./check constructs alternate")

    assert "calls different functions on each run (not deterministic): calls are not compared with C" in ended.out
    functions = json.loads(jarvis("runs", "report", "last", "--format", "json").out)["conversion"]["functions"]
    assert not [one["name"] for one in functions if any(gate[0] == "shadow" for gate in one["gates"])]
    assert states(hard)["duff"][0] == "mechanical"


@pytest.mark.parametrize(
    ("test", "failure"), [("./check", "exit code 1"), ("sleep 100", "stopped at its limit of wall time")]
)
def test_tests_that_fail_or_hang_in_c_end_the_run(jarvis: Jarvis, hard: Path, test: str, failure: str) -> None:
    ended = convert(jarvis, hard, test, JARVIS_C2RUST__TEST_SECONDS="1")

    assert ended.code == 2
    assert f"--test {test}: fails before anything is translated: {failure}" in ended.err
    assert not hard.with_name("hard_rs").exists()


def test_only_functions_of_the_project_can_be_chosen(jarvis: Jarvis, hard: Path) -> None:
    ended = jarvis("c2rust", "fast", "-p", hard, "--build", "make", "--only", "nosuch*")

    assert ended.code == 2
    assert ended.err.endswith(" failed: --only: the project has no function nosuch*; see: jarvis c2rust symbols\n")


def test_programs_for_another_machine_cannot_prove_functions(jarvis: Jarvis, hard: Path) -> None:
    require("aarch64-linux-gnu-gcc", "qemu-aarch64")
    ended = convert(jarvis, hard, f"{QEMU} ./check constructs", build="make CC=aarch64-linux-gnu-gcc")

    assert ended.code == 3, ended.err
    assert "duff: the programs cannot load a Rust library built for " in ended.out
    assert states(hard)["duff"] == ("forwarded", "built", "duff")


def test_a_crate_that_is_edited_during_the_run_stays(jarvis: Jarvis, hard: Path) -> None:
    words = ["c2rust", "fast", "-p", str(hard), "--build", "make", "--proof", "built"]
    jarvis.spawn(*words)
    edited = hard.with_name("hard_rs") / "src" / "hard.rs"
    command = [sys.executable, "-m", "jarvis_cli", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        assert "running: make" in process.stderr.readline()
        edited.write_text("// mine\n")
        said = process.stderr.read()

    assert "hard.rs: edited since the last conversion" in said
    assert edited.read_text() == "// mine\n"
    other = next(path for path in jarvis.place.iterdir() if path.name.startswith("hard_rs_"))
    assert (other / "src" / "hard.rs").read_text().startswith("//! hard.c")


@pytest.mark.parametrize("size", ["30m", "38m"])
def test_a_full_disk_ends_the_run_and_refuses_no_function(jarvis: Jarvis, hard: Path, size: str) -> None:
    data = jarvis.place.parent / "data"
    data.mkdir(exist_ok=True)
    space = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    space += [f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"', str(data)]
    if subprocess.run([*space, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces")
    words = ["c2rust", "fast", "-q", "-p", str(hard), "--build", "make", "--test", "./check constructs"]
    ended = subprocess.run(
        [*space, sys.executable, "-m", "jarvis_cli", *words], stderr=subprocess.PIPE, text=True, check=False
    )

    assert ended.returncode == 2
    assert "not enough free disk space" in ended.stderr
    assert not hard.with_name("hard_rs").exists()
