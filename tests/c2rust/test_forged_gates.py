"""No build, test or crate decides what its own gates say: by configuration of cargo, replaced files, or early ends."""

from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.crate_bench import open_crate_bench
from jarvis_workers.c2rust.bench.crate_tests import crate_outcome
from jarvis_workers.c2rust.bench.project_bench import ProjectBench, ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import CrateItem, bench_crate
from tests.c2rust.test_project_bench import LIMITS, in_rust
from tests.support.servers import require

pytestmark = pytest.mark.slow

SUM_C = "int sum(int a, int b) { return a + b; }\nint main(void) { return sum(2, 3) == 5 ? 0 : 1; }\n"
WRONG = CrateItem("sum", "sum", "a", 'pub unsafe extern "C" fn sum(_a: i32, _b: i32) -> i32 { 7 }')
RIGHT = CrateItem("sum", "sum", "a", 'pub unsafe extern "C" fn sum(a: i32, b: i32) -> i32 { a + b }')
# A compiler that makes a library in the place of each that it is asked for.
WRAPPER = """\
#!/bin/sh
case " $* " in *" --crate-name bench "*) ;; *) [ -x "$1" ] && exec "$@"; exit 1;; esac
echo wrapped >&2
exit 1
"""
WRAPPED = "[build]\\nrustc-wrapper = \"'$PWD'/wrapper.sh\"\\n"
VARIABLES = '[env]\\nLD_PRELOAD = { value = "/none.so", force = true }\\n'
RUSTC = '[build]\\nrustc = "/bin/false"\\n'
LINKER = '[target.x86_64-unknown-linux-gnu]\\nlinker = "/bin/false"\\n'


def writes(text: str, *paths: str) -> str:
    """Return a command that writes a file of the configuration."""
    made = " && ".join(f"mkdir -p \"$(dirname {path})\" && printf '{text}' > {path}" for path in paths)
    return f"chmod +x wrapper.sh && {made}"


# What a build leaves for cargo: with each, the crate is built as without it.
BUILDS = {
    "a wrapper in CARGO_HOME": writes(WRAPPED, "$HOME/cargo/config.toml"),
    "a wrapper by the old name": writes(WRAPPED, "$HOME/cargo/config"),
    "a compiler in CARGO_HOME": writes(RUSTC, "$HOME/cargo/config.toml"),
    "a linker in CARGO_HOME": writes(LINKER, "$HOME/cargo/config.toml"),
    "variables in CARGO_HOME": writes(VARIABLES, "$HOME/cargo/config.toml"),
    "a wrapper in the home directory": writes(WRAPPED, "$HOME/.cargo/config.toml"),
    "a wrapper above the project": writes(WRAPPED, "../.cargo/config.toml", "../lock/.cargo/config.toml"),
    "a workspace above the project": "printf '[workspace]\\nmembers = [\"none\"]\\n' > ../Cargo.toml",
    "programs in the home directory": "mkdir -p $HOME/bin && ln -s /bin/false $HOME/bin/rustc",
    "a link in the place of the target": "rm -rf ../target && mkdir ../other && ln -s other ../target",
    "a directory in the place of the library": "mkdir -p ../target/debug/libbench.so/full ../target/debug/deps",
}
# What a test leaves: each file of a build in the place of one that was made before.
REPLACES = "cc -shared -fPIC -o evil.so evil.c; find .. $HOME -name '*bench*.so' -exec cp -f evil.so {} \\; ; true"


def project(place: Path, attack: str) -> ProjectBuild:
    (place / "tree").mkdir()
    (place / "tree" / "sum.c").write_text(SUM_C)
    (place / "tree" / "wrapper.sh").write_text(WRAPPER)
    (place / "tree" / "evil.c").write_text("int sum(int a, int b) { return a + b; }\n")
    archive = pack_project(place / "tree", 10)
    return ProjectBuild(archive, BuildCommands(build=f"cc sum.c -o sum && {attack or 'true'}"))


def passes(bench: ProjectBench, body: CrateItem) -> bool:
    """Return whether a library with this body is built, and passes the test."""
    bench.write_crate(bench_crate("", [], [body]))
    built, messages = bench.build_library()
    assert built, messages
    return not bench.test("./sum", in_rust(bench, "sum")).failure


@pytest.mark.parametrize("name", BUILDS)
def test_what_a_build_leaves_for_cargo_changes_no_gate(name: str, tmp_path: Path) -> None:
    require("cc", "cargo")
    with open_bench(tmp_path, project(tmp_path, BUILDS[name]), LIMITS) as bench:
        assert (passes(bench, WRONG), passes(bench, RIGHT)) == (False, True)


def test_a_test_that_replaces_the_library_has_no_wrong_body_accepted(tmp_path: Path) -> None:
    require("cc", "cargo")
    with open_bench(tmp_path, project(tmp_path, ""), LIMITS) as bench:
        assert not passes(bench, WRONG)
        for _ in range(2):
            assert not bench.test(REPLACES, {}).failure
            assert bench.test("./sum", in_rust(bench, "sum")).failure
        assert not passes(bench, WRONG)


MANIFEST = '[package]\nname = "own"\nversion = "0.1.0"\nedition = "2021"\n'
FAILS = "#[test]\nfn adds() { assert_eq!(own::sum(2, 3), 5); }\n"
LIBRARY = "pub fn sum(_a: i32, _b: i32) -> i32 { 7 }\n"
RUNNER = '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'
EXITS = "pub fn sum(_a: i32, _b: i32) -> i32 { std::process::exit(0) }\n"
BEGINS = """\
extern "C" fn end() { std::process::exit(0) }
#[used]
#[link_section = ".init_array"]
static BEGIN: extern "C" fn() = end;
pub fn sum(_a: i32, _b: i32) -> i32 { 7 }
"""
ALIAS = '[alias]\ntest = "version"\n'
CRATES = {
    "a program that runs the tests": {".cargo/config.toml": RUNNER},
    "a program that runs all tests": {".cargo/config.toml": "[target.'cfg(all())']\nrunner = \"true\"\n"},
    "a wrapper of rustc": {".cargo/config.toml": '[build]\nrustc-wrapper = "true"\n'},
    "a wrapper of the workspace": {".cargo/config.toml": '[build]\nrustc-workspace-wrapper = "true"\n'},
    "another compiler": {".cargo/config.toml": '[build]\nrustc = "true"\n'},
    "the old name of the configuration": {".cargo/config": RUNNER},
    "a command of its own": {".cargo/config.toml": ALIAS},
    "flags of rustc": {".cargo/config.toml": '[build]\nrustflags = ["--cfg", "forged"]\n'},
    "a toolchain": {"rust-toolchain.toml": '[toolchain]\npath = "/none"\n'},
    "a runner by a build script": {
        "build.rs": 'fn main() { println!("cargo:rustc-env=CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=true"); }\n'
    },
}


@pytest.mark.parametrize("name", CRATES)
def test_a_crate_whose_tests_fail_does_not_pass(name: str, tmp_path: Path) -> None:
    require("cargo")
    files = {"Cargo.toml": MANIFEST, "src/lib.rs": LIBRARY, "tests/adds.rs": FAILS} | CRATES[name]
    for path, text in files.items():
        (tmp_path / "crate" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "crate" / path).write_text(text)
    with open_crate_bench(tmp_path, pack_project(tmp_path / "crate", 10), LIMITS) as bench:
        run = bench.test()
    outcome = crate_outcome({path: text.encode() for path, text in files.items()}, LIMITS)

    assert not run.passed
    assert not all(test.passed for test in outcome.tests) or outcome.error, outcome


@pytest.mark.parametrize(
    "changed", [EXITS, BEGINS, LIBRARY], ids=["in a function", "before all tests", "with a failure"]
)
def test_a_change_with_which_tests_end_early_does_not_pass(changed: str, tmp_path: Path) -> None:
    require("cargo")
    right = LIBRARY.replace("_a", "a").replace("_b", "b").replace("{ 7 }", "{ a + b }")
    files = {"Cargo.toml": MANIFEST, "src/lib.rs": right, "tests/adds.rs": FAILS}
    for path, text in files.items():
        (tmp_path / "crate" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "crate" / path).write_text(text)
    with open_crate_bench(tmp_path, pack_project(tmp_path / "crate", 10), LIMITS) as bench:
        before = bench.test()
        bench.write({"src/lib.rs": changed.encode()})
        after = bench.test()

    assert (before.failure, after.passed) == ("", False)


def test_a_crate_may_say_where_its_vendored_crates_are(tmp_path: Path) -> None:
    require("cargo")
    vendored = {
        "Cargo.toml": f'{MANIFEST}[dependencies]\nadding = "1"\n',
        "src/lib.rs": "pub fn sum(a: i32, b: i32) -> i32 { adding::sum(a, b) }\n",
        "tests/adds.rs": FAILS,
        ".cargo/config.toml": '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "vendor"\n',
        "vendor/adding/Cargo.toml": MANIFEST.replace("own", "adding").replace("0.1.0", "1.0.0"),
        "vendor/adding/src/lib.rs": "pub fn sum(a: i32, b: i32) -> i32 { a + b }\n",
        "vendor/adding/.cargo-checksum.json": '{"files": {}}',
    }
    for path, text in vendored.items():
        (tmp_path / "crate" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "crate" / path).write_text(text)
    with open_crate_bench(tmp_path, pack_project(tmp_path / "crate", 10), LIMITS) as bench:
        run = bench.test()

    assert run.passed, run
