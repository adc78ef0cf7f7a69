"""Other analyzers that a scan runs: `--witness`. Most tests have programs of their own in PATH."""

import json
import os

import pytest

from jarvis_workers.toolchain.analyzers import installed_analyzers
from tests.cli.commands import COPY
from tests.support.servers import missing
from tests.support.settings_files import write_settings

TWICE = "#include <stdlib.h>\nvoid f(char *p)\n{\n    free(p);\n    free(p);\n}\n"
ERROR = '<error id="doubleFree" severity="error" msg="freed twice" cwe="415"><location file="$f" line="5"/></error>'
REPORT = f"""echo '<?xml version="1.0"?><results version="2"><cppcheck version="2.10"/><errors>' >&2
for f; do :; done
echo "{ERROR.replace('"', chr(92) + '"')}</errors></results>" >&2
"""

RUST = """pub fn unset(n: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(n);
    unsafe { bytes.set_len(n) };
    bytes
}
"""
CRATE = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'


@pytest.fixture
def cppcheck(tmp_path, monkeypatch):
    """Return a function that puts a program `cppcheck` with this script into PATH."""

    def put(script: str = REPORT, version: str = "2.10") -> None:
        program = tmp_path / "tools" / "bin" / "cppcheck"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "Cppcheck {version}" && exit\n{script}')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{path}")
        installed_analyzers.cache_clear()

    path = os.environ["PATH"]
    yield put
    installed_analyzers.cache_clear()


def gaps_of(done) -> set[tuple[str, str]]:
    return {(gap["file"], gap["reason"]) for gap in json.loads(done.out)["summary"]["not_checked"]}


def test_what_an_analyzer_finds_is_a_witness_of_what_a_rule_finds(jarvis, cppcheck) -> None:
    cppcheck()
    tree = jarvis.tree("tree", {"src/a.c": TWICE, "src/b.c": "int b;\n" * 5})
    done = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json")

    issues = {issue["pattern"]: issue for issue in json.loads(done.out)["issues"] if issue["file"] == "src/a.c"}
    assert done.code == 0
    witness = {"rule": "cppcheck:doubleFree", "line": 5, "text": "cppcheck (error): freed twice"}
    assert issues["flow_double_free"]["witnesses"] == [witness]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("while :; do :; done", "stopped at its limit of CPU time"),
        ("sleep 60", "stopped at its limit of wall time"),
        ("kill -SEGV $$", "it crashed (signal 11)"),
        ("exit 0", "it printed no report"),
        # The program itself says that it gets no more memory.
        ("tail /dev/zero", "it printed no report"),
        ("echo x > ${5:-/nowhere} 2> /dev/null; echo y > a.c; exit 0", "it printed no report"),
        ('head -c 40000000 /dev/zero | tr "\\0" x >&2', "its output was cut"),
    ],
    ids=["computes", "hangs", "crashes", "silent", "takes all memory", "writes into the tree", "floods"],
)
@pytest.mark.slow
def test_an_analyzer_that_fails_is_named(jarvis, cppcheck, script: str, reason: str) -> None:
    cppcheck(script)
    tree = jarvis.tree("tree", {"a.c": COPY})
    write_settings(jarvis.place, {"scan": {"witness_seconds": 1}})
    done = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json")

    assert done.code == 3
    assert gaps_of(done) == {("a.c", f"not checked by cppcheck: {reason}")}
    assert (tree / "a.c").read_text() == COPY


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("semgrep", '--witness: "semgrep" is none of auto, none, gcc, clang-tidy, cppcheck, clippy'),
        (" ,", "--witness is empty; list the analyzers with: jarvis doctor"),
        ("none,gcc", "--witness: none cannot be combined with others"),
        ("cppcheck", "is version 1.90, older than 2: install cppcheck 2"),
    ],
)
def test_names_are_checked_before_anything_runs(jarvis, cppcheck, names: str, message: str) -> None:
    cppcheck(version="1.90")
    tree = jarvis.tree("tree", {"a.c": COPY})
    done = jarvis("sec", "fast", str(tree), "--witness", names)

    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_compiler_that_lacks_a_part_is_named(jarvis, tmp_path, monkeypatch) -> None:
    """gcc without the compiler of C++, or with an option of another compiler, reads nothing and prints no place."""
    tree = jarvis.tree("tree", {"a.c": COPY, "compile_commands.json": ""})
    entry = {"directory": str(tree), "file": "a.c", "arguments": ["cc", "-fno-such-option", "-c", "a.c"]}
    (tree / "compile_commands.json").write_text(json.dumps([entry]))
    program = tmp_path / "tools" / "bin" / "gcc"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\n[ "$1" = -dumpfullversion ] && echo 12.2.0 && exit\necho "gcc: error: no \033[2Jcc1" >&2\nexit 4\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    installed_analyzers.cache_clear()
    done = jarvis("sec", "fast", str(tree), "--witness", "gcc", "--json")
    installed_analyzers.cache_clear()

    assert done.code == 3
    assert gaps_of(done) == {("a.c", "not checked by gcc: it failed with exit code 4: gcc: error: no \\x1b[2Jcc1")}


@pytest.mark.parametrize("command", ["make", ""])
def test_a_build_is_for_analyzers_or_agents(jarvis, command: str) -> None:
    done = jarvis("sec", "fast", str(jarvis.tree("tree", {"a.c": COPY})), "--build", command)

    assert done.code == 2
    assert "add --witness auto" in done.err


def test_automatic_analyzers_have_nothing_to_do_in_a_tree_of_rust(jarvis, cppcheck) -> None:
    cppcheck()
    tree = jarvis.tree("tree", {"a.rs": "fn main() {}\n"})

    assert jarvis("sec", "fast", str(tree), "--witness", "auto").code == 0
    asked = jarvis("sec", "fast", str(tree), "--witness", "cppcheck")
    assert (asked.code, "no C or C++ file" in asked.err) == (2, True)


@pytest.mark.slow
def test_a_second_run_takes_the_answers_of_the_first(jarvis, cppcheck, tmp_path) -> None:
    cppcheck()
    tree = jarvis.tree("tree", {"a.c": TWICE, "a.h": ""})
    first = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json")
    cppcheck("exit 0")
    again = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json")
    (tree / "a.c").write_text(TWICE + "\n")
    changed = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json")

    assert json.loads(first.out)["issues"] == json.loads(again.out)["issues"]
    assert gaps_of(changed) == {("a.c", "not checked by cppcheck: it printed no report")}


@pytest.mark.slow
def test_units_are_compiled_as_a_recorded_build_does(jarvis, tmp_path) -> None:
    tree = jarvis.tree(
        "tree",
        {
            "src/a.c": f'#include "made.h"\n#ifdef ON\n{TWICE}#endif\n',
            "Makefile": "a.o: src/a.c\n\techo '#include <stdlib.h>' > made.h\n\t$(CC) -I. -DON -c src/a.c -o a.o\n",
        },
    )
    done = jarvis("sec", "fast", str(tree), "--witness", "gcc", "--build", "make", "--json")
    without = jarvis("sec", "fast", str(tree), "--witness", "gcc", "--json")

    (issue,) = (one for one in json.loads(done.out)["issues"] if one["pattern"] == "flow_double_free")
    assert [one for one in issue["witnesses"] if one["text"].startswith("gcc (warning): double-")]
    assert not (tree / "made.h").exists()
    (gap,) = gaps_of(without)
    assert "does not compile" in gap[1]
    assert "made.h" in gap[1]


def test_the_doctor_lists_the_analyzers(jarvis, cppcheck) -> None:
    cppcheck(version="2.13")
    checks = {check["name"]: check for check in json.loads(jarvis("doctor", "--json").out)}

    assert checks["cppcheck"]["state"] == "ok"
    assert checks["cppcheck"]["says"].endswith("cppcheck 2.13")
    assert {"gcc", "clang-tidy"} < set(checks)


@pytest.mark.slow
def test_sarif_has_what_analyzers_find_in_runs_of_theirs(jarvis, cppcheck) -> None:
    cppcheck(REPORT.replace("doubleFree", "zerodiv").replace("415", "369").replace("5", "2"))
    tree = jarvis.tree("tree", {"a.c": TWICE})
    runs = json.loads(jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--format", "sarif").out)["runs"]

    assert [run["tool"]["driver"]["name"] for run in runs] == ["Jarvis", "cppcheck"]
    assert [result["ruleId"] for result in runs[1]["results"]] == ["zerodiv"]


def test_a_unit_whose_job_fails_is_named(jarvis, cppcheck, monkeypatch) -> None:
    def fail(*_) -> None:
        raise ValueError("the reader broke")

    cppcheck()
    tree = jarvis.tree("tree", {"a.c": COPY})
    monkeypatch.setattr("jarvis_workers.sec.stages.run_witnesses._answer", fail)
    done = jarvis("sec", "fast", str(tree), "--witness", "cppcheck", "--json", "-j", "0")

    assert done.code == 3
    assert gaps_of(done) == {("a.c", "not checked by other analyzers: ValueError: the reader broke")}


@pytest.fixture
def clippy() -> None:
    if isinstance(found := installed_analyzers()["clippy"], str):
        missing(f"clippy ({found})")


@pytest.mark.slow
@pytest.mark.usefixtures("clippy")
def test_clippy_reads_workspaces(jarvis) -> None:
    tree = jarvis.tree(
        "tree",
        {
            "Cargo.toml": '[workspace]\nmembers = ["one"]\nexclude = ["two", "three"]\n',
            "one/Cargo.toml": CRATE,
            "one/src/lib.rs": RUST,
            # The tree names programs that cargo shall run, and another command as clippy.
            ".cargo/config.toml": '[build]\nrustc-wrapper = "/bin/false"\nrustc = "no"\n[alias]\nclippy = "version"\n',
            "two/Cargo.toml": f'{CRATE}[dependencies]\nserde = "1"\n',
            "two/src/lib.rs": RUST,
            "three/Cargo.toml": CRATE,
            "three/src/lib.rs": f"{RUST}fn f() -> u8 {{ gone() }}\n",
            "three/build.rs": 'fn main() { std::fs::write("../one/src/lib.rs", "").unwrap(); }\n',
        },
    )
    done = jarvis("sec", "fast", str(tree), "--witness", "clippy", "--min-confidence", "0", "--json")
    issues = [one for one in json.loads(done.out)["issues"] if one["pattern"] == "clippy:uninit_vec"]

    assert [(one["file"], one["line"], one["cwe"]) for one in issues] == [("one/src/lib.rs", 2, 908)]
    missing = "no matching package named `serde` found; cargo vendor writes dependencies into the tree"
    broken = "it does not compile: cannot find function `gone` in this scope (src/lib.rs:6)"
    assert gaps_of(done) == {
        ("two/Cargo.toml", f"not checked by clippy: {missing}"),
        ("three/Cargo.toml", f"not checked by clippy: {broken}"),
    }
    assert (tree / "one/src/lib.rs").read_text() == RUST


@pytest.mark.usefixtures("clippy")
def test_clippy_needs_a_crate(jarvis) -> None:
    done = jarvis("sec", "fast", str(jarvis.tree("tree", {"a.rs": RUST})), "--witness", "clippy")

    assert (done.code, "--witness clippy: no Cargo.toml in" in done.err) == (2, True)
