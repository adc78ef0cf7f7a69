"""Vendored crates replace functions of a small library, with a scripted model; build, tests and gates are real."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.agents.loop.planning import answer_about_plan
from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import HEAD, task_of
from tests.c2rust.vendors import crate_files, write_vendor
from tests.cli.commands import Ended, Jarvis
from tests.cli.test_c2rust_lib_replace import judge
from tests.cli.test_c2rust_transpile import functions, head_of
from tests.support.servers import require
from tests.support.settings_files import write_settings

LIBRARY = """#include "lib.h"
static unsigned step(unsigned sum, unsigned char byte) { return sum * 31 + byte; }
unsigned mix(const unsigned char *bytes, unsigned count)
{
    unsigned sum = 7;
    for (unsigned i = 0; i < count; i++)
        sum = step(sum, bytes[i]);
    return sum;
}
int least(int a, int b) { return a < b ? a : b; }
int most(int a, int b) { return a > b ? a : b; }
int twice(int a) { return 2 * a; }
"""
HEADER = """unsigned mix(const unsigned char *bytes, unsigned count);
int least(int a, int b);
int most(int a, int b);
int twice(int a);
"""
TEST = """#include "lib.h"
int main(void)
{
    return !(mix((const unsigned char *)"abc", 3) == mix((const unsigned char *)"abcd", 3) && mix(0, 0) == 7
        && least(2, 1) == 1 && most(2, 1) == 2 && twice(4) == 8);
}
"""
MAKEFILE = "test: check\n\t./check\ncheck: lib.o check.o\n\t$(CC) -o $@ lib.o check.o\n"
FILES: dict[str, str | bytes] = {"lib.h": HEADER, "lib.c": LIBRARY, "check.c": TEST, "Makefile": MAKEFILE}
COMMANDS = ("--build", "make check", "--test", "make test")
# `least` and `most` call crates that do not build, `twice` one that is not vendored.
CHOICES = {"mix": ["Tiny_Mix"], "least": ["wont-build"], "most": ["wont-run"], "twice": ["absent"]}
BODIES = {
    "mix": "{ tiny_mix::mix(bytes) }",
    "least": "{ wont_build::least(a, b) }",
    "most": "{ wont_run::most(a, b) }",
    "twice": "{ a.wrapping_mul(2) }",
}
STEP = "pub const fn step(sum: u32, byte: u8) -> u32 { sum.wrapping_mul(31).wrapping_add(byte as u32) }"
MIX = "pub fn mix(bytes: &[u8]) -> u32 { bytes.iter().fold(SEVEN, |sum, one| tiny_step::step(sum, *one)) }"
# The start is computed by the build script.
MIX = f'include!(concat!(env!("OUT_DIR"), "/seven.rs"));\n{MIX}'
BUILD = """fn main() {
    let place = std::path::Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("seven.rs");
    std::fs::write(place, "const SEVEN: u32 = 7;").unwrap();
}
"""
CRATES = (
    crate_files("tiny-step", STEP),
    crate_files(
        "tiny-mix",
        MIX,
        dependencies='tiny-step = "1"\nnot-vendored = { version = "1", optional = true }',
        more={"build.rs": BUILD},
    ),
    crate_files("wont-build", "pub fn least(a: i32, b: i32) -> i32 { a < b }"),
    crate_files(
        "wont-run", "pub fn most(a: i32, b: i32) -> i32 { a.max(b) }", more={"build.rs": "fn main() { panic!() }"}
    ),
    crate_files("unused"),
)


def model(body: Body) -> Step:
    """Replace functions as in CHOICES, and translate them."""
    if answer := answer_about_plan(body, "src/numbers.rs"):
        return answer
    if not HEAD.search(task_of(body)):
        return judge(body, CHOICES)
    name, head = head_of(body)
    return calls("submit_report", rust=f"{head} {BODIES[name]}")


def move(jarvis: Jarvis, server: ModelServer, command: str, *more: object) -> Ended:
    """Run a command on the library with the server as its model, and with the vendored crates."""
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    names = [name for some in CHOICES.values() for name in some]
    settings = {"allowed_crates": names, "vendor": str(jarvis.place / "crates")}
    write_settings(jarvis.place, {"models": {"m": group}, "c2rust": settings})
    return jarvis.spawn("c2rust", command, "-p", jarvis.place / "small", *more)


@pytest.fixture
def library(jarvis: Jarvis) -> Path:
    require("cc", "make", "cargo")
    write_vendor(jarvis.place / "crates", *CRATES)
    return jarvis.tree("small", FILES)


@pytest.mark.slow
def test_a_replaced_function_calls_its_vendored_crate(jarvis: Jarvis, library: Path) -> None:
    """Crates that do not build or are missing affect only the functions that they would replace."""
    with ModelServer(forever=model) as server:
        roots = ("--root-list-syms", "mix,least,most,twice")
        ended = move(jarvis, server, "run", *COMMANDS, "--no-review", "--no-optimize", "-m", 0, *roots)

    assert ended.code == 0, ended.err
    found = functions(jarvis)
    assert {name: one["state"] for name, one in found.items()} == {
        "mix": "replaced",
        "step": "pruned",
        "least": "mechanical",
        "most": "mechanical",
        "twice": "translated",
        "main": "mechanical",
    }
    refusals = {name: found[name]["not_translated"] for name in ("least", "most")}
    assert "check: dependency_missing: wont-build 1.2.0 cannot be used: E0308 mismatched types" in refusals["least"]
    assert "wont-run 1.2.0 cannot be used: exit code 101: failed to run custom build command" in refusals["most"]
    assert (
        "warning: twice is not replaced: absent is not vendored; set c2rust.vendor, or use --fetch-crates" in ended.out
    )
    question = next(task_of(one) for one in server.requests if HEAD.search(task_of(one)) and head_of(one)[0] == "mix")
    assert "Tiny_Mix; versions: tiny-mix 1.2.0" in question
    crate = library.with_name("small_rs")
    assert tomllib.loads((crate / "Cargo.toml").read_text())["dependencies"] == {"tiny-mix": "1.2.0"}
    assert sorted(path.name for path in (crate / "vendor").iterdir()) == ["tiny-mix", "tiny-step"]
    subprocess.run(
        ["cargo", "build", "--quiet"], cwd=crate, check=True, env={**os.environ, "CARGO_NET_OFFLINE": "true"}
    )
    assert subprocess.run([crate / "target" / "debug" / "check"], check=False).returncode == 0
