"""Changed inputs: operands of comparisons take each other's place, and lines of a plan keep their form."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.input_mutations import Operands, ParentInput, mutated_inputs

LINE = re.compile(r"[gs] [0-9a-f]{1,16}( i8)?|w \d+ ([0-9a-f]{2})+|o \d+|p \d+ \d+|G \d+|c \w+")


def mutants(parent: ParentInput, count: int = 200) -> set[str]:
    return set(mutated_inputs([parent], (), Random(1), count))


@pytest.mark.parametrize(
    ("text", "operands", "changed"),
    [
        ("g 1f\ng 7\n", Operands(4, 0x1F, 0x3039), "g 3039\ng 7\n"),
        ("g 1f\ng 7\n", Operands(4, 0x3039, 0x1F), "g 3039\ng 7\n"),
        ("o 8\nw 0 0100000002000000\nG 0\n", Operands(4, 2, 0x1234), "o 8\nw 0 0100000034120000\nG 0\n"),
        ("v 3ff0000000000000\n", Operands(8, 0x3FF0 << 48, 0x4005 << 48), "v 4005000000000000\n"),
        ("o 4\nw 0 616263\nG 0\n", Operands(1, 0x62, 0x7A), "o 4\nw 0 617a63\nG 0\n"),
    ],
)
def test_an_operand_of_a_comparison_takes_the_place_of_the_other(text: str, operands: Operands, changed: str) -> None:
    assert changed in mutants(ParentInput(text, (operands,)))


def test_a_bound_is_met_and_exceeded_by_one() -> None:
    found = mutants(ParentInput("g 5\n", (Operands(4, 5, 0x9000),)))

    assert {"g 8fff\n", "g 9000\n", "g 9001\n"} <= found


def test_a_small_argument_stays_extended() -> None:
    signed, unsigned = (mutants(ParentInput(f"g 44 {name}\n", (Operands(4, 0x44, 0x1C1),))) for name in ("i8", "u8"))

    assert "g c1 u8\n" in unsigned
    assert "g ffffffffffffffc1 i8\n" in signed
    assert {text for text in mutants(ParentInput("g 1 bool\n"))} == {"g 0 bool\n"}


def test_zeros_of_an_object_become_numbers() -> None:
    assert any("w " in text for text in mutants(ParentInput("o 16\nG 0\n")))


def test_without_parents_there_are_no_inputs() -> None:
    assert list(mutated_inputs([], (), Random(1), 10)) == []


@given(st.integers(0, 2**64 - 1), st.binary(min_size=1, max_size=16), st.integers(0, 99))
def test_changed_inputs_are_plans_over_the_same_objects(value: int, content: bytes, seed: int) -> None:
    text = f"o 16\nw 0 {content.hex()}\no 8\np 0 0\nG 1\nc init\ng {value:x}\ng 7f i8\n"
    operands = (Operands(8, value, 1), Operands(1, content[0], 0))
    found = list(mutated_inputs([ParentInput(text, operands)], (5, -1), Random(seed), 20))

    assert len(set(found)) == len(found)
    for lines in (one.splitlines() for one in found):
        assert all(LINE.fullmatch(line) for line in lines)
        assert [line for line in lines if line[0] not in "gw"] == ["o 16", "o 8", "p 0 0", "G 1", "c init"]
