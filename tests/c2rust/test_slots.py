"""Slots in assembly text; tests/c2rust/runs/test_slot_compiler.py builds and runs programs with them."""

import os

import pytest

from jarvis_workers.c2rust.slots import Slot, SlottedText, Unslotted, add_slots, unit_name

SOURCE = "/p/src/list.c"


def gcc(name: str, body: str = "\tret\n", *, linkage: str = "", location: str = "") -> str:
    """Return a function in the form of gcc."""
    visible = f"\t.{linkage}\t{name}\n" if linkage else ""
    where = f"\t.loc {location}\n" if location else ""
    return (
        f"\t.p2align 4\n{visible}\t.type\t{name}, @function\n{name}:\n.LFB0:\n{where}{body}\t.size\t{name}, .-{name}\n"
    )


def slotted(text: str, root: str = "/p", machine: str = "x86_64") -> SlottedText:
    return add_slots(text, machine=machine, source=SOURCE, root=root)


def lines(result: SlottedText) -> list[str]:
    return [line.strip().replace("\t", " ") for line in result.text.split("\n")]


def test_a_definition_is_renamed_and_calls_stay():
    result = slotted(gcc("callee", linkage="globl") + gcc("caller", "\tcall\tcallee\n\tret\n", linkage="globl"))

    assert result.slots == (
        Slot("callee", "callee", "global", "src/list.c", 0),
        Slot("caller", "caller", "global", "src/list.c", 0),
    )
    after = lines(result)
    assert {"jvc_callee:", ".size jvc_callee, .-jvc_callee", ".type jvc_callee, @function"} <= set(after)
    assert ".globl jvc_callee" in after
    assert after.count("callee:") == 1
    assert after.index("callee:") > after.index("jvc_caller:")
    assert "call callee" in after


def test_strings_files_and_sections_are_not_renamed():
    text = (
        '\t.file\t"hello"\n\t.section\t.text.hello,"ax",@progbits\n'
        + gcc("hello")
        + '\t.section\t.rodata\n\t.string\t"hello, hello!"\n\t.ascii "hello:"\n'
    )

    after = lines(slotted(text))

    assert {
        '.file "hello"',
        '.section .text.hello,"ax",@progbits',
        '.string "hello, hello!"',
        '.ascii "hello:"',
    } <= set(after)


def test_a_static_function_has_a_weak_name_of_its_file():
    result = slotted(gcc("find"))

    assert result.slots == (Slot("src_list__find", "find", "local", "src/list.c", 0),)
    after = lines(result)
    assert {".weak src_list__find", ".set src_list__find, find", ".weak jvc_src_list__find"} <= set(after)
    assert ".globl find" not in after


def test_the_line_table_says_which_file_defines_a_function():
    text = (
        '\t.file 0 "/p/build" "../src/list.c"\n\t.file 1 "../src/list.h"\n'
        + gcc("in_header", location="1 7 3")
        + '\t.file 2 "/usr/include" "stdlib.h" md5 0x00\n'
        + gcc("in_library", location="2 9 0")
        + '\t.file 3 "../src/caf\\303\\251.c"\n'
        + gcc("accent", location="3 1")
    )

    assert [(slot.name, slot.file, slot.line) for slot in slotted(text).slots] == [
        ("src_list__in_header", "src/list.h", 7),
        ("stdlib__in_library", "/usr/include/stdlib.h", 9),
        ("src_caf___accent", "src/café.c", 1),
    ]


def test_static_variables_are_named_for_each_file_of_the_unit():
    text = (
        '\t.file 1 "/p/tests/t.c"\n'
        + gcc("run", location="1 1 1")
        + "\t.local\tcount\n\t.comm\tcount,4,4\n\t.type\ttable, @object\n\t.size\ttable, 8\ntable:\n\t.quad\trun\n"
        + "\t.local\tn.3\n\t.comm\tn.3,4,4\n\t.globl\tshared\n\t.type\tshared, @object\nshared:\n\t.long\t1\n"
    )

    after = lines(slotted(text))

    aliases = {line.removeprefix(".set ") for line in after if line.startswith(".set ")}
    assert aliases == {f"{unit}__{name}, {name}" for unit in ("src_list", "tests_t") for name in ("count", "table")} | {
        "tests_t__run, run"
    }
    assert {"table:", ".quad run", ".local n.3"} <= set(after)


def test_hidden_symbols_can_be_seen_by_a_library():
    after = lines(slotted("\t.hidden\tother\n" + gcc("f", "\tcall\tother\n", linkage="hidden")))

    assert {".protected other", ".protected f"} <= set(after)
    assert not [line for line in after if line.startswith(".hidden")]


def test_hidden_data_of_a_unit_without_functions_can_be_seen_by_a_library():
    after = lines(slotted("\t.internal\ttable\n\t.globl\ttable\ntable:\n\t.byte\t1\n"))

    assert ".protected table" in [" ".join(line.split()) for line in after]


def test_weak_functions_and_aliases_go_through_the_slot():
    result = slotted(gcc("f", linkage="weak") + "\t.globl\tg\n\t.set\tg,f\n")

    assert result.slots == (Slot("f", "f", "weak", "src/list.c", 0),)
    assert {".weak f", ".weak jvc_f", ".set g,f"} <= set(lines(result))


def test_parts_clones_and_ifunc_resolvers_have_no_slot():
    text = (
        gcc("f", linkage="globl")
        + gcc("f.cold")
        + gcc("f.part.0")
        + gcc("choose")
        + "\t.globl\tfast\n\t.type\tfast, @gnu_indirect_function\n\t.set\tfast,choose\n"
    )

    result = slotted(text)

    split = "split off by the compiler, or nested in another function"
    assert [slot.symbol for slot in result.slots] == ["f"]
    assert result.unslotted == (
        Unslotted("f.cold", split),
        Unslotted("f.part.0", split),
        Unslotted("choose", "ifunc resolver: runs before slots are relocated"),
    )


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("#APP", "#NO_APP"),
        ("\t# Start of file scope inline assembly", "\t# End of file scope inline assembly"),
        ("\t//APP", "\t//NO_APP"),
    ],
)
def test_definitions_in_inline_assembly_stay(begin: str, end: str):
    own = "\t.globl raw\n\t.type raw,@function\nraw:\n\tret\n\t.hidden raw\n"

    result = slotted(f"{begin}\n{own}{end}\n" + gcc("f", linkage="globl"))

    assert [slot.symbol for slot in result.slots] == ["f"]
    assert own in result.text


def test_the_form_of_clang_is_understood():
    text = (
        "\t.globl\tf                               # -- Begin function f\n\t.type\tf,@function\n"
        "f:                                      # @f\n.Lfunc_begin0:\n"
        '\t.file\t0 "/p" "src/list.c" md5 0xae12\n\t.loc\t0 5 0                           # src/list.c:5:0\n\tretq\n'
        ".Lfunc_end0:\n\t.size\tf, .Lfunc_end0-f\n"
    )

    result = slotted(text)

    assert result.slots == (Slot("f", "f", "global", "src/list.c", 5),)
    assert {".type jvc_f,@function", ".size jvc_f, .Lfunc_end0-jvc_f"} <= set(lines(result))


def test_trampolines_open_with_the_landing_pad_of_the_compiler():
    protected = slotted(gcc("f", "\tendbr64\n\tret\n"))
    plain = slotted(gcc("f"))

    assert protected.text.count("endbr64") == 3
    assert "endbr64" not in plain.text


def test_aarch64_jumps_by_registers_of_veneers():
    result = slotted(gcc("f", linkage="globl").replace("@", "%"), machine="aarch64")

    assert {".type f, %function", "ldr x16, [x16, :lo12:.Ljvc0]", "ldr x16, [x17, 48]", "br x16"} <= set(lines(result))


def test_text_without_functions_is_unchanged():
    text = "\t.globl\ttable\n\t.type\ttable, @object\ntable:\n\t.quad\tother\n"

    assert slotted(text) == SlottedText(text, (), ())


def test_a_file_name_may_hold_any_byte():
    raw = os.fsdecode(b'\t.file 0 "/p" "caf\xe9.c"\n\t.file 1 "\xff.h"\n')

    result = slotted(raw + gcc("f", location="0 1") + gcc("g", location="1 2"))

    assert [os.fsencode(slot.file) for slot in result.slots] == [b"caf\xe9.c", b"\xff.h"]
    assert [slot.name for slot in result.slots] == ["caf___f", "___g"]
    assert '\t.asciz\t"caf\\351.c"' in result.text


def test_names_in_the_table_cannot_leave_their_string():
    result = add_slots(gcc("f"), machine="x86_64", source='/p/a"\n\t.globl x\\.c', root="/p")

    assert '\t.asciz\t"a\\042\\012\\011.globl x\\134.c"' in result.text


@pytest.mark.parametrize(
    ("file", "unit"), [("inflate.c", "inflate"), ("src/a-b.c", "src_a_b"), ("/abs/x.c", "x"), ("../x.y.c", "x_y")]
)
def test_unit_names(file: str, unit: str):
    assert unit_name(file) == unit
