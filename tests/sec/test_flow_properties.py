"""What holds of the flow engine for any program: it ends, it agrees with itself, and it looks at meaning alone."""

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_workers.dataflow import FlowHit
from tests.sec.c_programs import NAMES, OTHER_NAMES, Program, programs
from tests.sec.following import follow, model_of, stored, tell
from tests.support.machine import assert_cpu_within

pytestmark = pytest.mark.long

EXAMPLES = sorted((Path(__file__).parent.parent / "data" / "flow").rglob("*.c*"))
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
KILOBYTES = 1000
MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def where(hits: list[FlowHit]) -> list[tuple[str, int, float]]:
    return [(hit.pattern, hit.line, hit.confidence) for hit in hits]


@MANY
@given(program=programs())
def test_the_same_program_has_the_same_findings_each_time(program: Program) -> None:
    content = program.text().encode()

    assert tell(content) == tell(content)


@MANY
@given(program=programs())
def test_a_model_that_was_stored_has_the_findings_of_the_fresh_one(program: Program) -> None:
    files = {"a.c": program.text().encode()}

    assert follow(files, through=lambda model: model) == follow(files)


@MANY
@given(program=programs())
def test_a_model_is_json_and_comes_back_as_it_was(program: Program) -> None:
    model = model_of(program.text().encode())

    assert model is not None
    assert stored(model) == model


@MANY
@given(
    program=programs(), above=st.lists(st.sampled_from(["", "/* a */", "// b", "   ", "/* two\n lines */"]), max_size=5)
)
def test_lines_above_move_the_findings_down_and_change_nothing_else(program: Program, above: list[str]) -> None:
    text = program.text()
    moved = "".join(f"{line}\n" for line in above)
    down = moved.count("\n")

    assert tell((moved + text).encode()) == [_lower(hit, down) for hit in tell(text.encode())]


def _moved_down(note: str, down: int) -> str:
    return re.sub(r"\bline (\d+)", lambda match: f"line {int(match[1]) + down}", note)


def _lower(hit: FlowHit, down: int) -> FlowHit:
    steps = tuple((file, line + down, _moved_down(note, down)) for file, line, note in hit.steps)
    return hit._replace(line=hit.line + down, steps=steps)


@MANY
@given(program=programs())
def test_line_endings_and_byte_order_marks_do_not_matter(program: Program) -> None:
    text = program.text()
    plain = tell(text.encode())

    assert tell(text.replace("\n", "\r\n").encode()) == plain
    assert tell(b"\xef\xbb\xbf" + text.encode()) == plain
    assert tell(("\ufeff" + text).encode("utf-16-le")) == plain


@MANY
@given(program=programs())
def test_names_of_variables_do_not_matter(program: Program) -> None:
    assert where(tell(program.text(OTHER_NAMES).encode())) == where(tell(program.text(NAMES).encode()))


@pytest.mark.timing
@MANY
@given(program=programs(), seed=st.randoms(use_true_random=False))
def test_the_order_of_functions_does_not_matter(program: Program, seed: random.Random) -> None:
    order = list(range(len(program.functions)))
    seed.shuffle(order)

    assert by_function(program.text(order=order)) == by_function(program.text())


def by_function(text: str) -> set[tuple[str, str, int]]:
    """Return the findings of a file by the function they are in, their lines counted from its head."""
    heads = {
        text.count("\n", 0, one.start()) + 1: one[1] for one in re.finditer(r"^\w[^\n]*?(\w+)\(", text, re.MULTILINE)
    }
    starts = [(max(line for line in heads if line <= hit.line), hit) for hit in tell(text.encode())]
    return {(heads[start], hit.pattern, hit.line - start) for start, hit in starts}


def mutated(text: str, seed: random.Random) -> str:
    """Return a text with a few tokens deleted, doubled or swapped, or cut anywhere."""
    tokens = TOKEN.findall(text)
    for _ in range(seed.randint(1, 12)):
        first, second = seed.randrange(len(tokens)), seed.randrange(len(tokens))
        change = seed.choice(("delete", "double", "swap", "swap"))
        if change == "delete" and len(tokens) > 1:
            del tokens[first]
        elif change == "double":
            tokens.insert(second, tokens[first])
        else:
            tokens[first], tokens[second] = tokens[second], tokens[first]
    text = "".join(tokens)
    return text[: seed.randrange(len(text))] if text and seed.random() < 0.2 else text


@pytest.mark.timing
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_damaged_file_is_followed_quickly_and_without_a_fault(file: Path) -> None:
    seed = random.Random(file.name)
    text = file.read_text()
    for _ in range(25):
        damaged = mutated(text, seed).encode()
        before = time.process_time()

        tell(damaged, file.name)

        assert_cpu_within(max(0.3, len(damaged) / (100 * KILOBYTES)), since=before)


@pytest.mark.timing
def test_a_hundred_kilobytes_of_damaged_code_take_less_than_a_second() -> None:
    seed = random.Random(20)
    text = "\n".join(mutated(file.read_text(), seed) for file in EXAMPLES * 3)[: 100 * KILOBYTES]
    before = time.process_time()

    tell(text.encode())

    assert_cpu_within(1, since=before)


@MANY
@given(content=st.binary(max_size=400))
def test_any_bytes_are_followed_without_a_fault(content: bytes) -> None:
    tell(content)
    tell(b"int f(char *p)\n{\n    free(p);\n" + content + b"\n    p[0] = 1;\n}\n")
