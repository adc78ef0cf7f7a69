"""The build of a project runs in the sandbox, over a copy; what its compilers are called for are the units."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.compile_sources import CompileOptions, CompilePlan, compile_commands_of
from jarvis_workers.builds.recorded_build import BuildLimits, record_build
from jarvis_workers.errors import CommandFailed, UsageError
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import refusal
from tests.support.servers import missing

pytestmark = pytest.mark.slow

LIMITS = BuildLimits(seconds=300)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree beside the data directory, in a path with a space."""
    return write(tmp_path / "my tree", {"a.c": "int f(void) { return X; }\n", "b.c": "int main(void) { return 0; }\n"})


def plan_of(tree: Path, build: str, configure: str | None = None, limits: BuildLimits = LIMITS) -> CompilePlan:
    options = CompileOptions(commands=BuildCommands(configure, build), data_dir=tree.parent / "data dir", limits=limits)
    return compile_commands_of(tree, options)


def units(plan: CompilePlan) -> list[tuple[str, tuple[str, ...]]]:
    return [(os.fsdecode(command.file), command.arguments) for command in plan.commands]


def test_make_is_recorded_with_its_generated_header_and_the_tree_stays_as_it_was(tree: Path) -> None:
    makefile = "all: x.h a.o b.o\nx.h:\n\techo '#define X 1' > $@\n%.o: %.c\n\t$(CC) -include x.h -Iinc -c $< -o $@\n"
    write(tree, {"Makefile": makefile})

    plan = plan_of(tree, "make -j2")

    arguments = ("-include", "{root}/x.h", "-I{root}/inc")
    assert units(plan) == [("a.c", arguments), ("b.c", arguments)]
    assert b"x.h" in plan.files
    assert (plan.tree / "x.h").read_text() == "#define X 1\n"
    assert sorted(path.name for path in tree.iterdir()) == ["Makefile", "a.c", "b.c"]


def test_the_path_of_a_build_stays_and_each_build_compiles_all(tree: Path) -> None:
    write(tree, {"Makefile": "a.o:\n\tgcc -DX=1 -c a.c\n"})

    first = plan_of(tree, "make")
    place = first.tree
    other = plan_of(tree, "make")
    del first
    again = plan_of(tree, "make")

    assert other.tree != place
    assert (again.tree, again.commands) == (place, other.commands)


def test_names_with_spaces_and_newlines_are_recorded(tree: Path) -> None:
    write(tree, {"in c/a b\nc.c": "int g;\n"})

    plan = plan_of(tree, "sh -c 'cd \"in c\" && cc -I. -c *.c && cc -DX=1 -c ../a.c'")

    assert units(plan) == [("a.c", ("-DX=1",)), ("in c/a b\nc.c", ("-I{root}/in c",))]
    assert plan.commands[1].directory == b"in c"


def test_each_command_is_announced_before_it_runs(tree: Path) -> None:
    announced: list[str] = []
    options = CompileOptions(
        commands=BuildCommands("touch mark", "cc -DX=1 -c a.c"), data_dir=tree.parent / "d", limits=LIMITS
    )

    compile_commands_of(tree, options, announced.append)

    assert announced == ["touch mark", "cc -DX=1 -c a.c"]


def test_names_that_are_not_utf8_are_recorded(tree: Path) -> None:
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff.c")).write_text("int g;\n")

    assert [command.file for command in plan_of(tree, "cc -c ?.c -DX=1").commands] == [b"a.c", b"b.c", b"\xff.c"]


def test_operators_of_a_shell_are_given_to_a_shell(tree: Path) -> None:
    assert units(plan_of(tree, "true && cc -DX=2 -c a.c || exit 3")) == [("a.c", ("-DX=2",))]


def test_response_files_that_the_build_removes_are_recorded(tree: Path) -> None:
    build = "echo '-DX=4' > x.rsp; echo '@x.rsp -c a.c' > all.rsp; cc @all.rsp && rm *.rsp"
    plan = plan_of(tree, build)

    assert units(plan) == [("a.c", ("-DX=4",))]


def test_a_source_with_another_suffix_is_recorded(tree: Path) -> None:
    (tree / "a.c").rename(tree / "a.txt")

    assert units(plan_of(tree, "cc -DX=1 -xc a.txt -c -o a.o")) == [("a.txt", ("-x", "c", "-DX=1"))]


def test_sources_that_the_build_removes_are_named_unless_their_objects_are_removed_too(tree: Path) -> None:
    (tree / "build.sh").write_text(
        "set -e; cp a.c g.c; cc -DX=1 -c g.c; rm g.c; cp a.c sub.c; cc -DX=2 -c sub.c -o out.o; rm sub.c\n"
        "cp a.c test.c; cc -DX=1 -c test.c; rm test.c test.o\n"
        "cc -DX=1 -xc -c - -o in.o < a.c; cc -c b.c"
    )
    plan = plan_of(tree, "sh build.sh")

    assert units(plan) == [("b.c", ())]
    assert plan.warnings == ("compiled, but not read: removed by the build: g.c, in.o (from standard input), sub.c",)


def test_test_programs_of_configure_are_no_units(tree: Path) -> None:
    configure = "echo 'int main(void) { return 0; }' > conftest.c; gcc conftest.c -o conftest && ./conftest"

    assert units(plan_of(tree, "cc -DX=1 -c a.c", configure)) == [("a.c", ("-DX=1",))]


def test_a_build_with_cmake_is_recorded(tree: Path) -> None:
    if not shutil.which("cmake"):
        missing("cmake")
    write(
        tree,
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"
            'file(WRITE ${CMAKE_BINARY_DIR}/gen.c "int gen;\\n")\n'
            "add_executable(p a.c b.c ${CMAKE_BINARY_DIR}/gen.c)\n"
            "target_compile_definitions(p PRIVATE X=1)\n"
        },
    )

    found = units(plan_of(tree, "cmake --build out", "cmake -S . -B out"))

    assert found == [("a.c", ("-DX=1",)), ("b.c", ("-DX=1",)), ("out/gen.c", ("-DX=1",))]


def test_a_build_with_meson_is_recorded(tree: Path) -> None:
    if not shutil.which("meson") or not shutil.which("ninja"):
        missing("meson")
    write(tree, {"meson.build": "project('p', 'c')\nexecutable('p', 'a.c', 'b.c', c_args: '-DX=1')\n"})

    found = units(plan_of(tree, "ninja -C out", "meson setup out"))

    assert [name for name, _ in found] == ["a.c", "b.c"]
    assert all("-DX=1" in arguments for _, arguments in found)


def test_a_build_with_autotools_and_libtool_is_recorded_once_a_file(tree: Path) -> None:
    if not shutil.which("autoreconf") or not shutil.which("libtoolize"):
        missing("autoconf, automake and libtool")
    write(
        tree,
        {
            "configure.ac": "AC_INIT([p], [1])\nAC_CONFIG_AUX_DIR([aux])\nAM_INIT_AUTOMAKE([foreign])\nAM_PROG_AR\n"
            "LT_INIT\nAC_PROG_CC\nAC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
            "Makefile.am": "lib_LTLIBRARIES = libp.la\nlibp_la_SOURCES = a.c b.c\nAM_CPPFLAGS = -DX=1\n",
        },
    )

    plan = plan_of(tree, "make", "autoreconf -i && ./configure")

    assert [name for name, _ in units(plan)] == ["a.c", "b.c"]
    assert b"config.h" in plan.files


def test_a_build_that_fails_is_an_error_with_its_last_lines(tree: Path) -> None:
    write(tree, {"bad.c": "int f( {\n"})

    with pytest.raises(CommandFailed) as raised:
        plan_of(tree, "gcc -c bad.c")

    assert str(raised.value) == "--build 'gcc -c bad.c': exit code 1"
    assert any("bad.c:1:8: error:" in line for line in raised.value.output)


def test_a_build_that_prints_without_end_is_an_error_with_its_last_lines(tree: Path) -> None:
    with pytest.raises(CommandFailed) as raised:
        plan_of(tree, "head -c 100000000 /dev/zero | tr '\\0' x; echo; printf '\\033[31mthe end\\033[0m'; exit 3")

    assert str(raised.value).endswith("exit code 3")
    assert raised.value.output[-1] == "the end"
    assert sum(map(len, raised.value.output)) < 10_000


def test_a_build_that_hangs_is_ended(tree: Path) -> None:
    with pytest.raises(CommandFailed, match=r"longer than 2 s; raise c2rust\.build_seconds"):
        plan_of(tree, "echo begin; sleep 1000", limits=BuildLimits(seconds=2))


def test_a_build_that_fills_the_disk_is_ended(tree: Path) -> None:
    with pytest.raises(CommandFailed, match=r"more than 20 MB of files; raise c2rust\.build_disk_mb"):
        plan_of(
            tree,
            "while :; do head -c 5000000 /dev/zero >> $$.bin; head -c 5000000 /dev/zero > $(date +%N); done",
            limits=BuildLimits(disk_mb=20, seconds=300),
        )


def test_a_build_that_takes_too_much_memory_is_ended(tree: Path) -> None:
    with pytest.raises(CommandFailed, match="--build"):
        plan_of(tree, "python3 -c 'x = bytearray(300_000_000)'", limits=BuildLimits(memory_mb=200))


def test_a_build_cannot_write_outside_of_its_directory(tree: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    victim.chmod(0o666)

    with pytest.raises(CommandFailed):
        plan_of(tree, f"echo theirs > {victim}")
    with pytest.raises(CommandFailed):
        plan_of(tree, f"cp a.c '{tree}/new.c'")

    assert victim.read_text() == "mine"
    assert not (tree / "new.c").exists()


def test_a_build_has_no_network(tree: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(CommandFailed) as raised:
            plan_of(tree, f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'")

    assert any("Operation not permitted" in line for line in raised.value.output)


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_a_build_is_recorded_in_each_tier(tree: Path, tier: Tier) -> None:
    if why := refusal(tier):
        assert tier == Tier.A, why
        pytest.skip(why)

    build = record_build(tree, BuildCommands(build="cc -DX=1 -c a.c"), tree.parent / "data", LIMITS, tier=tier)

    assert [command.file for command in build.found.commands] == [b"a.c"]
    assert (build.directory.place / "work/a.o").exists()


def test_without_a_sandbox_there_is_no_build(tree: Path) -> None:
    with pytest.raises(UsageError) as raised:
        record_build(tree, BuildCommands(build="touch ran"), tree.parent / "data", LIMITS, tier=Tier.C)

    assert str(raised.value) == "--build: builds run only in the sandbox: no command is run in tier C"
    assert not (tree.parent / "data").exists()


def test_a_tool_chain_outside_of_the_system_is_recorded_too(tree: Path, tmp_path: Path) -> None:
    compiler = tmp_path / "chain/bin/arm-none-eabi-gcc"
    compiler.parent.mkdir(parents=True)
    compiler.write_text('#!/bin/sh\nexec gcc "$@"\n')
    compiler.chmod(0o755)

    plan = plan_of(tree, "arm-none-eabi-gcc -DX=1 -c a.c", limits=LIMITS._replace(tool_chains=(tmp_path / "chain",)))

    assert units(plan) == [("a.c", ("-DX=1",))]
    with pytest.raises(UsageError, match=r"c2rust\.tool_chains: chain: not the absolute path"):
        plan_of(tree, "make", limits=LIMITS._replace(tool_chains=(Path("chain"),)))


def test_links_modes_and_times_are_copied_and_the_data_directory_is_not(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.c": "int x;\n", "run.sh": "cc -c a.c\n", ".data/big": "", "old": "", "new": ""})
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("a.c")
    (tree / "dangling").symlink_to("nowhere")
    os.utime(tree / "old", (1000, 1000))
    os.utime(tree / "new", (2000, 2000))
    check = "test new -nt old && test -L link && test -L dangling && test ! -e .data && ./run.sh"

    plan = compile_commands_of(
        tree, CompileOptions(commands=BuildCommands(build=check), data_dir=tree / ".data", limits=LIMITS)
    )

    assert units(plan) == [("a.c", ())]
    with pytest.raises(UsageError, match="the data directory is inside the tree"):
        compile_commands_of(
            tree, CompileOptions(commands=BuildCommands(build="make"), data_dir=tree / "data", limits=LIMITS)
        )


def test_a_build_that_compiles_nothing_is_one_clear_line(tree: Path) -> None:
    with pytest.raises(UsageError) as nothing:
        plan_of(tree, "true")
    with pytest.raises(UsageError) as no_source:
        plan_of(tree, "echo nop > x.s; gcc -c x.s")

    assert str(nothing.value) == (
        "--build true: compiled nothing: no compiler (cc, gcc, clang, …) was called by name through PATH"
    )
    with pytest.raises(UsageError, match=r"compiled nothing: .*; add --build CMD"):
        compile_commands_of(
            tree, CompileOptions(commands=BuildCommands("true"), data_dir=tree.parent / "data", limits=LIMITS)
        )
    assert str(no_source.value).endswith("compiled nothing: 1 compiler calls, none for a C or C++ file of the tree")


@pytest.mark.parametrize(
    ("command", "message"), [("", "--build: give a command"), ("make 'x", "--build: no closing quotation: make 'x")]
)
def test_a_command_that_is_none_is_refused(tree: Path, command: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(tree, command)


def test_records_that_the_build_forges_are_refused(tree: Path) -> None:
    with pytest.raises(UsageError, match="not a recorded compiler call"):
        plan_of(tree, 'cc -DX=1 -c a.c; echo \'{"directory": 3}\' > "$HOME/records/9.json"')
    with pytest.raises(UsageError, match="cannot be read"):
        plan_of(tree, 'rm -r "$HOME/records"; ln -s /etc "$HOME/records"')
