"""Which steps a call of the compiler becomes; tests/c2rust/runs/test_slot_compiler.py runs them."""

import pytest

from jarvis_workers.c2rust.slot_build import (
    SlotBuild,
    SourceInput,
    link_flags,
    plan_build,
    slot_flags,
    without_version_scripts,
)


def planned(command: str) -> SlotBuild:
    build = plan_build(command.split())
    assert build is not None
    return build


@pytest.mark.parametrize(
    "command",
    [
        "-E a.c",
        "-S -O2 a.c",
        "-M a.c",
        "-MM -I. a.c",
        "-fsyntax-only a.c",
        "--version",
        "-v",
        "-dumpmachine",
        "-print-search-dirs",
        "-m32 -c a.c",
        "-c start.S -o start.o",
        "-c -x c++ a.c",
        "-x c-header a.h",
        "a.h -o a.h.gch",
        "-c a.c -o -",
        "",
    ],
)
def test_calls_that_make_no_object_of_c_stay(command: str):
    assert plan_build(command.split()) is None


def test_compilation_keeps_what_matters_to_it():
    build = planned("-std=c99 -O2 -DA=1 -I inc -include x.h -c src/a.c -o out/a.o -lm -Wl,-z,now")

    assert build.inputs == (SourceInput("src/a.c", "c", "out/a.o"),)
    assert build.flags == ("-std=c99", "-O2", "-DA=1", "-I", "inc", "-include", "x.h")
    assert build.link is None
    assert not build.takes_runtime


def test_several_sources_have_an_object_each():
    assert [one.object for one in planned("-c src/a.c b.i").inputs] == ["a.o", "b.o"]
    assert [one.language for one in planned("-c src/a.c b.i").inputs] == ["c", "cpp-output"]


def test_sources_of_a_linking_call_keep_their_place():
    build = planned("-Wall a.c libx.a -x c - -x none b.S -o prog -lm")

    assert build.inputs == (SourceInput("a.c", "c", None), SourceInput("-", "c", None), SourceInput("b.S", "", None))
    assert build.link == ("-Wall", 0, "libx.a", 1, 2, "-lm", "-o", "prog")
    assert [one.takes_slots for one in build.inputs] == [True, True, False]
    assert link_flags(build) == ("-rdynamic", "-ldl")


def test_linking_without_sources_takes_the_runtime():
    build = planned("-o prog main.o -L. -lz")

    assert build.inputs == ()
    assert build.takes_runtime


@pytest.mark.parametrize("command", ["-r -o all.o a.o b.o", "-nostdlib -o boot boot.c", "-ffreestanding k.c -o k"])
def test_what_has_no_c_library_takes_no_runtime(command: str):
    assert not planned(command).takes_runtime


def test_static_programs_export_nothing():
    assert link_flags(planned("-static a.c")) == ()


def test_optimisation_of_the_whole_program_is_dropped():
    build = planned("-flto=auto -fwhole-program -ffat-lto-objects -gsplit-dwarf -O3 a.c")

    assert build.flags == ("-O3",)
    assert build.link == ("-O3", 0)


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("-MMD -c a.c -o o/a.o", ("-MMD", "-MF", "o/a.d", "-MQ", "o/a.o")),
        ("-MD -c s/a.c", ("-MD", "-MF", "a.d", "-MQ", "a.o")),
        ("-MD -MP -MF x.d -MT y -c a.c", ("-MD", "-MP", "-MF", "x.d", "-MT", "y")),
        ("-MFx.d -MQy -MD -c a.c", ("-MFx.d", "-MQy", "-MD")),
        ("-c a.c", ()),
    ],
)
def test_rules_of_make_name_the_object(command: str, rule: tuple[str, ...]):
    build = planned(command)

    assert build.dependency_flags(build.inputs[0]) == rule


@pytest.mark.parametrize(
    ("command", "flags"),
    [("-O2 -c a.c", ("-g1",)), ("-g -c a.c", ()), ("-ggdb3 -c a.c", ()), ("-g -g0 -c a.c", ("-g1",))],
)
def test_a_line_table_is_written(command: str, flags: tuple[str, ...]):
    assert planned(command).debug_flags == flags


def test_the_assembler_gets_its_own_flags():
    assert planned("-Wa,-mbig-obj -march=native -O2 -Ix -c a.c").assembler_flags == ("-Wa,-mbig-obj", "-march=native")


def test_flags_suit_the_compiler():
    assert "-fno-ipa-modref" in slot_flags("gcc", 12)
    assert "-fno-ipa-modref" not in slot_flags("gcc", 10)
    assert slot_flags("clang", 14) == ("-O0", "-U_FORTIFY_SOURCE")


@pytest.mark.parametrize(
    ("words", "visible"),
    [
        ("-Wl,-soname,libz.so.1,--version-script,zlib.map -O2", "-Wl,-soname,libz.so.1 -O2"),
        ("-Wl,--version-script=zlib.map x.o", "x.o"),
        ("-Wl,--exclude-libs,ALL,-z,now", "-Wl,-z,now"),
        ("-Wl,-z,now --version-script", "-Wl,-z,now --version-script"),
    ],
)
def test_version_scripts_can_be_dropped(words: str, visible: str):
    assert without_version_scripts(words.split()) == visible.split()
