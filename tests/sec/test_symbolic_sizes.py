"""Sizes are reckoned with as far as they can be known, and stand for themselves beyond that."""

import time

import pytest

from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, literal_length, read_amount, size_of_type
from tests.support.machine import assert_cpu_within

KNOWN = {"buf": 64, "N": 10}


def lookup(kind: str, text: bytes) -> Amount | None:
    if kind == "sizeof" and text.decode() not in KNOWN:
        return size_of_type(text)
    number = KNOWN.get(text.decode())
    return None if number is None else Amount.of(number)


def read(text: str) -> Amount | None:
    return read_amount(text.encode(), lookup)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("0x10", 16),
        ("010", 8),
        ("1u << 4", 16),
        ("2 + 3 * 4 - 1", 13),
        ("(size_t)(2 + 3) * 4UL", 20),
        ("sizeof(int) * N", 40),
        ("sizeof(buf) - 1", 63),
        ("sizeof buf / sizeof(char)", 64),
        ("sizeof(unsigned long long)", 8),
        ("sizeof(struct node *)", 8),
        ("static_cast<size_t>(7) * (2)", 14),
        ("sizeof (unsigned char)", 1),
    ],
)
def test_what_can_be_worked_out_is_a_number(text: str, number: int) -> None:
    amount = read(text)

    assert amount is not None
    assert amount.number == number


@pytest.mark.parametrize("text", ["", "a ? b : c", "n % 8", "(1", "1)", "2 +", "a, b", "7 / n", "1.5", "-n", "x" * 300])
def test_what_is_no_sum_of_products_is_nothing(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ("strlen(s) + 1", "strlen( s )", "more"),
        ("strlen(s)", "strlen(s) + 1", "no more"),
        ("n * 4", "4 * n", "no more"),
        ("n + m", "n", "perhaps"),
        ("n", "64", ""),
        ("100 * sizeof(struct pair)", "50 * sizeof(struct pair)", "more"),
        ("PATH_MAX + 1", "PATH_MAX", "more"),
        ("h->length + 4", "h -> length + 8", "no more"),
        ("65", "64", "more"),
        ("n * m", "m * n", "no more"),
    ],
)
def test_amounts_are_compared_whatever_their_names_stand_for(left: str, right: str, said: str) -> None:
    one, other = read(left), read(right)

    assert one is not None
    assert other is not None
    assert one.compared(other) == said


def test_an_amount_of_types_and_macros_is_plain_and_one_of_variables_is_not() -> None:
    plain, open_ = read("4 * sizeof(struct pair) + LIMIT"), read("n + 1")

    assert plain is not None
    assert open_ is not None
    assert plain.is_plain
    assert not open_.is_plain
    assert open_.names == {b"n"}


@pytest.mark.parametrize(("held", "length"), [(b"abc", 3), (b"a\\n", 2), (b"\\x41b", 1), (b"\\101b", 2), (b"", 0)])
def test_an_escape_is_one_character(held: bytes, length: int) -> None:
    assert literal_length(held) == length


@pytest.mark.timing
@pytest.mark.parametrize("hostile", ["(" * 240, "a*" * 120, "(a+b)*" * 40, "a+" * 120, "1<<" * 80 + "1", "((int)" * 40])
def test_no_expression_takes_long(hostile: str) -> None:
    begun = time.process_time()
    for _ in range(20):
        read(hostile)

    assert_cpu_within(1, since=begun)
