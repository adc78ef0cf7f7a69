"""`jarvis c2rust transpile --interface` on a small crate, with a scripted model; the builds and its tests are real."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls, fails
from tests.agents.loop.translating import answers, task_of
from tests.cli.commands import Ended, Jarvis
from tests.support.servers import require
from tests.support.settings_files import write_settings

C = """/* A ring of eight bytes. */
struct ring { unsigned char bytes[8]; unsigned long first, count; };
int ring_push(struct ring *r, unsigned char byte)
{
    if (r->count == 8)
        return 0;
    r->bytes[(r->first + r->count++) % 8] = byte;
    return 1;
}
"""
RING = """/// A ring of eight bytes.
pub struct Ring { bytes: [u8; 8], first: usize, count: usize }

impl Ring {
    pub fn new() -> Self { unimplemented!() }
    pub fn push(&mut self, byte: u8) -> bool { unimplemented!() }
}

pub fn capacity() -> usize { unimplemented!() }
"""
TESTS = """use ring::{capacity, Ring};
fn main() {}
#[test]
fn is_full_after_eight() {
    let mut r = Ring::new();
    assert!((0..8).all(|byte| r.push(byte)));
    assert!(!r.push(8), "the ninth byte");
}
#[test]
fn holds_eight() { assert_eq!(capacity(), 8); }
"""
CARGO = '[package]\nname = "ring"\nversion = "0.1.0"\nedition = "2021"\n'
FILES: dict[str, str | bytes] = {
    "Cargo.toml": CARGO,
    "src/lib.rs": RING,
    "src/bin/test_ring.rs": TESTS,
    "src/bin/data.txt": "data",
}
NEW = "pub fn new() -> Self { unimplemented!() }", "pub fn new() -> Self { Ring { bytes: [0; 8], first: 0, count: 0 } }"
PUSH = (
    "-> bool { unimplemented!() }",
    """-> bool {
        if self.count == 8 { return false; }
        self.bytes[(self.first + self.count) % 8] = byte;
        self.count += 1;
        true
    }""",
)
CAPACITY = "usize { unimplemented!() }", "usize { 8 }"


def body(*changes: tuple[str, str], given: str = RING) -> str:
    text = given
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


RIGHT = body(NEW, PUSH, CAPACITY)
WRONG = body(NEW, ("-> bool { unimplemented!() }", "-> bool { self.count += 1; self.count < 8 }"), CAPACITY)


def says(*texts: str, path: str = "src/lib.rs") -> Step:
    return calls("submit_report", files=[{"path": path, "rust": text} for text in texts])


@pytest.fixture
def interface(jarvis: Jarvis) -> Path:
    require("cargo")
    jarvis.tree("ring_c", {"ring.c": C})
    return jarvis.tree("ring_interface", FILES)


def write(jarvis: Jarvis, interface: Path, server: ModelServer, *more: object) -> Ended:
    """Run the command with the server as its model."""
    return jarvis.spawn(*command(jarvis, interface, server, *more))


def command(jarvis: Jarvis, interface: Path, server: ModelServer, *more: object) -> tuple[object, ...]:
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}})
    return "c2rust", "transpile", "-p", "ring_c", "--interface", interface, *more


def report(jarvis: Jarvis) -> dict[str, Any]:
    return dict(json.loads(jarvis("runs", "report", "last", "--format", "json").out)["interface"])


@pytest.mark.slow
def test_bodies_that_fail_the_tests_go_back_until_they_pass(jarvis: Jarvis, interface: Path) -> None:
    """The first answer does not compile, the second leaves a body out, the third is wrong, the fourth is right."""
    given = [says(body(NEW, PUSH, ("usize {", "usize { nonsense; "))), says(body(NEW, PUSH)), says(WRONG), says(RIGHT)]
    asked: list[str] = []

    def learner(request: Body) -> Step:
        asked.append(request["messages"][-1]["content"])
        return given[answers(request)]

    with ModelServer(forever=learner) as server:
        ended = write(jarvis, interface, server)

    assert ended.code == 0, ended.err + ended.out
    assert "ring_push(struct ring *r" in asked[0] and "pub fn push(&mut self, byte: u8)" in asked[0]
    assert "check: src/lib.rs:14: E0425" in asked[1]
    assert "these functions have no body yet: capacity" in asked[2]
    assert "1 of 2 tests fail: src/bin/test_ring.rs: is_full_after_eight: thread" in asked[3]
    assert "3 of 3 functions have a body; 2 of 2 tests pass; 0 lines of unsafe code" in ended.out
    assert "m: 4 answers, 480 tokens" in ended.out
    crate = jarvis.place / "ring_c_rs"
    assert (crate / "src" / "lib.rs").read_text() == RIGHT.strip() + "\n"
    assert (crate / "src" / "bin" / "test_ring.rs").read_text() == TESTS
    assert (crate / "src" / "bin" / "data.txt").read_text() == "data"
    assert (interface / "src" / "lib.rs").read_text() == RING
    assert {one["name"]: one["passed"] for one in report(jarvis)["outcome"]["tests"]} == {
        "is_full_after_eight": True,
        "holds_eight": True,
    }


@pytest.mark.slow
def test_the_best_answer_is_kept_with_the_tests_that_fail(jarvis: Jarvis, interface: Path) -> None:
    with ModelServer(says(body(NEW, PUSH)), says(WRONG), says("nonsense")) as server:
        ended = write(jarvis, interface, server, "-m", 2)

    assert ended.code == 3
    assert "3 of 3 functions have a body; 1 of 2 tests pass" in ended.out
    assert "src/bin/test_ring.rs: is_full_after_eight: FAILS: thread 'is_full_after_eight' panicked" in ended.out
    assert (jarvis.place / "ring_c_rs" / "src" / "lib.rs").read_text() == WRONG.strip() + "\n"
    exported = jarvis("runs", "export", "last", "-d", "out")
    assert exported.code == 0, exported.err
    assert (jarvis.place / "out" / "crate" / "src" / "lib.rs").read_text() == WRONG.strip() + "\n"


@pytest.mark.slow
def test_changed_signatures_tests_and_other_files_are_refused(jarvis: Jarvis, interface: Path) -> None:
    asked: list[str] = []
    given = [
        says(RIGHT.replace("byte: u8", "byte: &u8")),
        says("fn main() {}", path="src/bin/test_ring.rs"),
        says("fn main() { std::fs::remove_dir_all(\"src\"); }", path="build.rs"),
        says(RIGHT.replace("usize { 8 }", "usize { std::process::exit(0) }")),
    ]  # fmt: skip

    def stubborn(request: Body) -> Step:
        asked.append(request["messages"][-1]["content"])
        return given[answers(request)]

    with ModelServer(forever=stubborn) as server:
        ended = write(jarvis, interface, server, "-m", 3)

    assert ended.code == 3
    assert "form: src/lib.rs: it must keep `pub fn push ( & self" in asked[1] or "it must keep `pub fn push" in asked[1]
    assert "form: src/bin/test_ring.rs is not one of the files" in asked[2]
    assert "form: build.rs is not one of the files" in asked[3]
    assert "0 of 3 functions have a body; 0 of 2 tests pass" in ended.out
    assert "src/lib.rs:6: Ring::push: not accepted in 4 answers; form: src/lib.rs: `std::process` is not" in ended.out
    assert (jarvis.place / "ring_c_rs" / "src" / "bin" / "test_ring.rs").read_text() == TESTS


@pytest.mark.slow
def test_without_an_answer_the_crate_is_the_interface(jarvis: Jarvis, interface: Path) -> None:
    with ModelServer(forever=lambda _: fails(401)) as server:
        ended = write(jarvis, interface, server)

    assert ended.code == 3
    assert (
        "src/lib.rs:5: Ring::new: refused: the request to the model failed: the server responded with 401" in ended.out
    )
    assert (jarvis.place / "ring_c_rs" / "src" / "lib.rs").read_text() == RING


@pytest.mark.slow
def test_a_crate_that_cargo_refuses_asks_no_model(jarvis: Jarvis, interface: Path) -> None:
    (interface / "Cargo.toml").write_text(CARGO + '[dependencies]\nno_such_crate = "1"\n')
    with ModelServer() as server:
        ended = write(jarvis, interface, server)
        assert not server.requests

    assert ended.code == 3
    assert "the crate DOES NOT BUILD: cargo: exit code 101" in ended.out and "no_such_crate" in ended.out


@pytest.mark.slow
def test_without_c_files_the_question_says_so(jarvis: Jarvis, interface: Path) -> None:
    (jarvis.place / "ring_c" / "ring.c").rename(jarvis.place / "ring_c" / "README")

    def check(request: Body) -> bool:
        return "There is no C code" in task_of(request)

    with ModelServer(says(RIGHT).expecting(check)) as server:
        ended = write(jarvis, interface, server)

    assert ended.code == 0, ended.err


@pytest.mark.slow
def test_files_of_several_questions_are_merged(jarvis: Jarvis, interface: Path) -> None:
    """Each of two large files is a question of its own; an answer for one is refused, the other is kept."""
    padding = "// " + "x" * 39_000 + "\n"
    jarvis.tree("ring_interface", {"src/lib.rs": f"pub mod more;\n{RING}{padding}"})
    jarvis.tree("ring_interface", {"src/more.rs": f"pub fn more() -> u8 {{ todo!() }}\n{padding}"})

    def half(request: Body) -> Step:
        if "pub fn more" in task_of(request).partition("Other files")[0]:
            return says("pub fn more() -> u8 { nonsense }", path="src/more.rs")
        return says("pub mod more;\n" + RIGHT)

    with ModelServer(forever=half) as server:
        ended = write(jarvis, interface, server, "-m", 0)
        assert len(server.requests) == 2

    assert ended.code == 3
    assert "3 of 4 functions have a body; 2 of 2 tests pass" in ended.out
    assert "src/more.rs:1: more: not accepted in 1 answer; check: src/more.rs:1: E0425" in ended.out


def test_the_directory_of_the_interface_is_never_written(jarvis: Jarvis, interface: Path) -> None:
    with ModelServer() as server:
        for place in (interface, interface / "out"):
            ended = jarvis(*command(jarvis, interface, server, "-o", place))
            assert ended.code == 2
            assert "the directory of the interface, which is never changed" in ended.line


def test_what_is_no_interface_is_named(jarvis: Jarvis, interface: Path) -> None:
    done = jarvis.tree("done", {**FILES, "src/lib.rs": RIGHT})
    with ModelServer() as server:
        ended = jarvis(*command(jarvis, done, server))
        other = jarvis(*command(jarvis, jarvis.place / "ring_c", server))
        built = jarvis(*command(jarvis, interface, server, "--build", "make"))

    assert (ended.code, other.code, built.code) == (2, 2, 2)
    assert "no function in" in ended.line and "has unimplemented!() or todo!() as its body" in ended.line
    assert "is not a crate: it has no Cargo.toml" in other.line
    assert "--build cannot be used with --interface" in built.line
