"""What is fuzzed holds for the files that the fuzzing begins with, and for a few damaged ones."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.dataflow import summarize
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.functions import functions
from jarvis_workers.source.lex import mask
from tests.fuzz.targets import CORPUS, SCANNER, TARGETS

FILES = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".c", ".cpp", ".rs"))


def modelled(content: bytes) -> Any:
    return model(content, mask(content, "c/cpp").text, lambda *_: True, header=False)["functions"]


# What the code behind each target finds.
FOUND: dict[str, Callable[[bytes], Any]] = {
    "lexer": lambda content: list(functions(mask(content, "c/cpp").text, "c/cpp")),
    "model": modelled,
    "rules": lambda content: SCANNER.scan(content, language="c/cpp").hits,
    "flow": lambda content: summarize(as_utf8(content), language="c/cpp", header=False, test=False, path="a.c"),
}


def damaged(content: bytes, seed: random.Random) -> bytes:
    """Return bytes with a part of them taken out, and another put elsewhere."""
    first, second = sorted(seed.randrange(len(content)) for _ in range(2))
    part, rest = content[first:second], content[:first] + content[second:]
    at = seed.randrange(len(rest) + 1)
    return rest[:at] + part[: seed.randrange(200)] + rest[at:]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"{", b"}", b'"', b"/*", b"#define", b"int f(", b"\\"])
def test_a_target_takes_what_is_hardly_code_and_nothing_is_found_there(target: str, content: bytes) -> None:
    TARGETS[target](content)

    assert FOUND[target](b"int f(char *p) { strcpy(p, q); }")
    assert not FOUND[target](content)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_takes_the_seeds_and_damaged_ones(target: str) -> None:
    seed = random.Random(7)
    assert FILES
    for file in FILES:
        content = file.read_bytes()
        TARGETS[target](content)
        TARGETS[target](damaged(content, seed))


@pytest.mark.timing
def test_a_target_that_is_none_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "parser"],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "invalid choice: 'parser'" in done.stderr
