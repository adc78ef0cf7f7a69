"""Programs built with slots by the real gcc: they do what they did, and their environment replaces functions."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.slot_compiler import compile_with_slots
from jarvis_workers.errors import JarvisError, UsageError
from tests.support.servers import missing

PROGRAM = """
#include <stdio.h>
static int calls;
static int twice(int a) { calls++; return 2 * a; }
int (*table[])(int) = {twice};
int main(int argc, char **argv) { printf("twice: %d\\n", table[argc - 1](21)); return 0; }
"""
# Built by gcc itself: stands for a library that Rust makes.
LIBRARY = """
extern int prog__calls; int absent(void); int jvc_prog__twice(int);
int jvr_prog__twice(int a) { return a > 99 ? absent() : jvc_prog__twice(a) + 1000 * prog__calls; }
"""

Compile = Callable[..., int]


@pytest.fixture(scope="session")
def runtime_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runtime")


@pytest.fixture
def cc(tmp_path: Path, runtime_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """Return the compiler with slots, in a directory that is the root of the project."""
    if not shutil.which("gcc"):
        missing("gcc")
    monkeypatch.chdir(tmp_path)
    own = {"JARVIS_C2RUST_CC": "gcc", "JARVIS_C2RUST_ROOT": str(tmp_path), "JARVIS_C2RUST_CACHE": str(runtime_cache)}
    return lambda *arguments: compile_with_slots(arguments, {**os.environ, **own})


def run(command: Sequence[str] | str, **choices: str) -> tuple[int, str]:
    """Run a program with JARVIS_C2RUST_ variables; return its exit code and output."""
    variables = {f"JARVIS_C2RUST_{name.upper()}": value for name, value in choices.items()}
    words = [command] if isinstance(command, str) else list(command)
    process = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
    return process.returncode, process.stdout


def events(log: Path) -> list[tuple[str, ...]]:
    """Return event, name, file and line of each line of the log; of `start`, the numbers of slots and in Rust."""
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    return [(row[0], *row[3:]) for row in rows]


def write(**files: str) -> None:
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text)


@pytest.fixture
def program(cc: Compile) -> str:
    write(prog_c=PROGRAM)
    assert cc("-O2", "-Wall", "prog.c", "-o", "prog") == 0
    return "./prog"


@pytest.mark.slow
def test_a_program_with_slots_does_what_it_did(program: str):
    assert run(program) == (0, "twice: 42\n")


@pytest.mark.slow
def test_a_trap_ends_the_process_and_is_logged(program: str):
    code, _ = run(program, trap="other,prog__twice", log="log")

    assert code == 97
    assert events(Path("log")) == [("start", "2", "0"), ("trap", "prog__twice", "prog.c", "4")]


def test_a_trace_logs_the_first_call_of_each_function(program: str):
    assert run(program, trace="*", log="log") == (0, "twice: 42\n")
    assert events(Path("log")) == [
        ("start", "2", "0"),
        ("reached", "prog__main", "prog.c", "6"),
        ("reached", "prog__twice", "prog.c", "4"),
    ]


def test_a_library_replaces_a_static_function(program: str):
    write(rust_c=LIBRARY, names_txt="prog__main\nprog__twice\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,lazy", "rust.c", "-o", "rust.so"], check=True)

    assert run(program, library="./rust.so") == (0, "twice: 42\n")
    assert run(program, library="./rust.so", rust="prog__main") == (0, "twice: 42\n")
    for rust in ("*", "prog__main,prog__twice", "@names.txt"):
        assert run(program, library="./rust.so", rust=rust, log="log") == (0, "twice: 1042\n")
    assert events(Path("log")) == [("start", "2", "1")] * 3


def test_a_library_that_cannot_be_loaded_ends_the_program(program: str):
    assert run(program, library="./absent.so", rust="*", log="log")[0] == 98
    assert [event[0] for event in events(Path("log"))] == ["unusable"]


def test_preprocessing_and_assembly_are_those_of_the_compiler(cc: Compile):
    write(prog_c=PROGRAM)
    for mode in ("-E", "-S", "-M"):
        assert cc(mode, "prog.c", "-o", "ours") == 0
        subprocess.run(["gcc", mode, "prog.c", "-o", "theirs"], check=True)
        assert Path("ours").read_bytes() == Path("theirs").read_bytes()


def test_several_sources_and_rules_of_make(cc: Compile):
    write(a_c='#include "a.h"\nint a(void) { return A; }\n', b_c="int b(void) { return 2; }\n", a_h="#define A 1\n")

    assert cc("-MMD", "-c", "a.c", "b.c") == 0
    assert Path("a.d").read_text() == "a.o: a.c a.h\n"
    assert Path("b.d").read_text() == "b.o: b.c\n"
    names = subprocess.run(["nm", "a.o", "b.o"], capture_output=True, text=True, check=True).stdout
    assert "jvc_a" in names and "jvc_b" in names


def test_response_files_and_a_program_from_standard_input(cc: Compile, tmp_path: Path):
    write(prog_c=PROGRAM, args_txt="-O2 -o 'prog' -x c -\n")
    with Path("prog.c").open() as source:
        saved = os.dup(0)
        os.dup2(source.fileno(), 0)
        try:
            assert cc("@args.txt") == 0
        finally:
            os.dup2(saved, 0)
            os.close(saved)

    assert run("./prog") == (0, "twice: 42\n")
    assert list(tmp_path.glob("*.s")) == []


def test_a_test_that_includes_the_source_shares_its_names(cc: Compile):
    write(
        prog_c=PROGRAM, test_c='#define main other\n#include "prog.c"\n#undef main\nint main(void){return table[0](1);}'
    )
    assert cc("-O1", "test.c", "-o", "test") == 0

    assert run("./test") == (2, "")
    run("./test", trace="*", log="log")
    assert [event[1:] for event in events(Path("log"))[1:]] == [
        ("test__main", "test.c", "4"),
        ("prog__twice", "prog.c", "4"),
    ]
    write(rust_c=LIBRARY)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,lazy", "rust.c", "-o", "rust.so"], check=True)
    assert run("./test", library="./rust.so", rust="*") == ((2 + 1000) % 256, "")


def test_a_program_that_takes_a_part_of_an_archive(cc: Compile):
    write(a_c="int a(void) { return 1; }\n", b_c="int b(void) { return 2; }\n")
    write(main_c="int a(void);\nint main(void) { return a(); }\n")
    write(rust_c="int jvc_a(void); int jvc_b(void);\nint jvr_a(void){return 5;}\nint jvr_b(void){return jvc_b();}\n")
    assert cc("-c", "a.c", "b.c") == 0
    subprocess.run(["ar", "rc", "libx.a", "a.o", "b.o"], check=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,lazy", "rust.c", "-o", "rust.so"], check=True)

    assert cc("main.c", "libx.a", "-o", "prog") == 0

    assert run("./prog", library="./rust.so", rust="*", log="log") == (5, "")
    assert events(Path("log")) == [("start", "2", "1")]


def test_a_shared_library_has_slots_of_its_own(cc: Compile):
    write(x_c='__attribute__((visibility("hidden"))) int inner(void) { return 3; }\nint x(void) { return inner(); }\n')
    write(main_c="int x(void);\nint main(void) { return x(); }\n")
    write(rust_c="int inner(void);\nint jvr_x(void) { return 10 + inner(); }\n")
    assert cc("-O2", "-fPIC", "-shared", "x.c", "-o", "libx.so") == 0
    assert cc("main.c", "-L.", "-lx", "-Wl,-rpath,.", "-o", "prog") == 0
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,lazy", "rust.c", "-o", "rust.so"], check=True)

    assert run("./prog") == (3, "")
    assert run("./prog", library="./rust.so", rust="*", log="log") == (13, "")
    assert sorted(events(Path("log"))) == [("start", "1", "0"), ("start", "2", "1")]


def test_a_version_script_hides_nothing_unless_versions_need_it(cc: Compile):
    write(x_c="int _x(void) { return 3; }\nint x(void) { return _x(); }\n", x_map="{ global: x; local: *; };\n")
    write(y_c='__asm__(".symver y_2,y@@V2");\nint y_2(void) { return 4; }\n', y_map="V2 { global: y; local: *; };\n")
    for name in ("x", "y"):
        script = f"-Wl,-soname,lib{name}.so,--version-script,{name}.map"
        assert cc("-fPIC", "-shared", script, f"{name}.c", "-o", f"lib{name}.so") == 0

    names = subprocess.run(["nm", "-D", "libx.so", "liby.so"], capture_output=True, text=True, check=True).stdout
    assert {" T _x", " T jvc__x", " T y@@V2"} <= {line[16:] for line in names.splitlines()}


def test_link_time_optimisation_is_dropped(cc: Compile):
    write(prog_c=PROGRAM)
    assert cc("-O3", "-flto", "-fwhole-program", "prog.c", "-o", "prog") == 0

    assert run("./prog", trap="prog__twice")[0] == 97


def test_flags_of_slots_bring_no_new_warnings(cc: Compile):
    write(
        prog_c="#include <stdio.h>\nstatic inline int f(int a) { return a; }\n"
        "int main(int c, char **v) { return v[0] == 0 || f(c); }\n"
    )

    assert cc("-O2", "-D_FORTIFY_SOURCE=2", "-Winline", "-Wall", "-Werror", "-c", "prog.c") == 0


def test_coverage_data_stays_beside_the_object(cc: Compile):
    write(prog_c=PROGRAM)
    Path("out").mkdir()

    assert cc("--coverage", "-c", "prog.c", "-o", "out/prog.o") == 0
    assert cc("--coverage", "out/prog.o", "-o", "prog") == 0
    assert run("./prog") == (0, "twice: 42\n")

    assert sorted(path.name for path in Path("out").iterdir()) == ["prog.gcda", "prog.gcno", "prog.o"]


def test_assembler_sources_and_inline_assembly_are_left_alone(cc: Compile):
    write(low_s="\t.globl low\n\t.type low,@function\nlow:\n\tmovl $4, %eax\n\tret\n\t.section .note.GNU-stack\n")
    write(
        main_c='asm(".globl raw\\n.type raw,@function\\nraw: movl $5,%eax\\n ret");\n'
        "int low(void), raw(void);\nint main(void) { return low() + raw(); }\n"
    )
    if os.uname().machine != "x86_64":
        pytest.skip("assembly of x86_64")

    assert cc("main.c", "low.s", "-o", "prog") == 0
    assert run("./prog", trace="*", log="log") == (9, "")
    assert events(Path("log")) == [("start", "1", "0"), ("reached", "main__main", "main.c", "3")]


def test_errors_of_the_compiler_are_its_own(cc: Compile, capfd: pytest.CaptureFixture[str]):
    write(bad_c="int f( {\n", good_c="int main(void) { return absent(); }\n")

    assert cc("-c", "bad.c") == 1
    assert "bad.c:1:8: error:" in capfd.readouterr().err
    assert not Path("bad.o").exists()
    assert cc("-w", "good.c", "-o", "prog") == 1
    assert "undefined reference to `absent'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("/nonexistent/cc", "/nonexistent/cc: cannot be started: No such file or directory"),
        ("true", "true: neither gcc nor clang; set JARVIS_C2RUST_CC to one of them"),
    ],
)
def test_what_is_no_compiler_is_refused(compiler: str, message: str):
    with pytest.raises(JarvisError, match=message):
        compile_with_slots(["-c", "a.c"], {**os.environ, "JARVIS_C2RUST_CC": compiler})


def test_endless_response_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write(again_txt="@again.txt")

    with pytest.raises(UsageError, match="response files nested deeper"):
        compile_with_slots(["@again.txt"], os.environ)


def test_threads_reach_a_traced_function_once(cc: Compile):
    write(
        prog_c="#include <pthread.h>\nstatic void *work(void *p) { return p; }\n"
        "int main(void) { pthread_t t[8]; int sum = 0; for (int i = 0; i < 8; i++) pthread_create(t + i, 0, work, t);\n"
        "for (int i = 0; i < 8; i++) { void *r; pthread_join(t[i], &r); sum += r == t; } return sum; }\n"
    )
    assert cc("-pthread", "prog.c", "-o", "prog") == 0

    assert run("./prog", trace="prog__work", log="log") == (8, "")
    assert events(Path("log"))[1:] == [("reached", "prog__work", "prog.c", "2")]


@pytest.mark.slow
def test_the_command_is_the_compiler_of_a_build(cc: Compile, runtime_cache: Path):
    write(prog_c=PROGRAM)
    own = {"JARVIS_C2RUST_CC": "gcc", "JARVIS_C2RUST_CACHE": str(runtime_cache)}
    make = ["make", f"CC={sys.executable} -m jarvis_cli c2rust cc", "CFLAGS=-O2", "prog"]

    subprocess.run(make, env={**os.environ, **own}, check=True, timeout=120)

    assert run("./prog", trap="prog__twice")[0] == 97
