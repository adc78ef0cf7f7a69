"""The bound on the CPU time of the quick set."""

from pathlib import Path

import pytest

from tests.bench.quick_cost import EXPENSIVE_SECONDS, EXPENSIVE_TESTS, SECONDS, main, times_in

CHEAP = "    12.00 all tests\n    30.00 this process, collection included\n"


def test_sums_and_the_rest_of_a_name_are_no_tests() -> None:
    assert times_in(f"{CHEAP}     0.25 tests/test_a.py::test_b[a b]\n     1.00 tests/test_a.py::test_c[1\n2]\n") == {
        "tests/test_a.py::test_b[a b]": 0.25,
        "tests/test_a.py::test_c[1": 1.0,
    }


@pytest.mark.parametrize(
    ("seconds", "tests", "code"),
    [
        (0.5, 1, 0),
        (EXPENSIVE_SECONDS + 0.1, EXPENSIVE_TESTS, 0),
        (EXPENSIVE_SECONDS + 0.1, EXPENSIVE_TESTS + 1, 1),
        (SECONDS + 1, 1, 1),
        (0, 0, 1),
    ],
)
def test_too_much_in_all_or_too_many_expensive_tests_or_none_fail(
    seconds: float, tests: int, code: int, tmp_path: Path
) -> None:
    half = [f"{seconds:9.2f} tests/test_a.py::test_b[{number}]\n" for number in range(tests)]
    (tmp_path / "gw0").write_text(CHEAP + "".join(half[::2]))
    (tmp_path / "gw1").write_text(CHEAP + "".join(half[1::2]))

    assert main([str(tmp_path / "gw0"), str(tmp_path / "gw1")]) == code


def test_a_machine_that_was_slower_meanwhile_has_more_time(tmp_path: Path) -> None:
    (tmp_path / "gw0").write_text(f"     1.50 times as slow\n{CHEAP}{SECONDS * 1.4:9.2f} tests/test_a.py::test_b\n")
    (tmp_path / "gw1").write_text(f"     1.30 times as slow\n{CHEAP}     0.10 tests/test_a.py::test_c\n")

    assert main([str(tmp_path / "gw0")]) == 0
    assert main([str(tmp_path / "gw0"), str(tmp_path / "gw1")]) == 1
