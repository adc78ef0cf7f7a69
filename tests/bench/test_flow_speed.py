"""CPU time of the data-flow analysis on the tree BENCH_TREE, in one table with other tools."""

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jarvis_workers.dataflow import analyze, summarize
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.functions import functions
from jarvis_workers.source.languages import is_header, is_test, language_of
from jarvis_workers.source.lex import mask

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
TREE = os.environ.get("BENCH_TREE", "")
MEGABYTE = 1_000_000
SAMPLE_SECONDS = 60
# One in so many files is tried with what is too slow for all of them.
SAMPLE_STEP = 7
NAMES = r"\b(malloc|calloc|realloc|free|strcpy|strcat|sprintf|memcpy|system|fopen)\b"


class Row(NamedTuple):
    """The time of a tool for a number of bytes, or the reason why it did not run."""

    tool: str
    seconds: float = 0.0
    size: int = 0
    remark: str = ""

    def __str__(self) -> str:
        if not self.size:
            return f"{self.tool:<24} {'-':>10} {'-':>8}  {self.remark}"
        megabytes = self.size / MEGABYTE
        return f"{self.tool:<24} {self.seconds * 1000 / megabytes:>10.1f} {megabytes:>8.1f}  {self.remark}"


@pytest.fixture(scope="module")
def files() -> list[tuple[Path, bytes]]:
    if not TREE:
        pytest.skip("set BENCH_TREE to a directory of C code")
    paths = [path for path in sorted(Path(TREE).rglob("*")) if path.is_file()]
    return [(path, as_utf8(path.read_bytes())) for path in paths if language_of(os.fsencode(path)) == "c/cpp"]


def own_rows(files: Sequence[tuple[Path, bytes]]) -> Iterator[Row]:
    """Measure our analysis.

    Summaries are converted to JSON and back as between the stages of a run; that is not counted.
    """
    size = sum(len(content) for _, content in files)
    names = [(os.fsencode(path), content) for path, content in files]
    began = time.process_time()
    made = [
        summarize(content, language="c/cpp", header=is_header(name), test=is_test(name), path=os.fsdecode(name))
        for name, content in names
    ]
    middle = time.process_time()
    models = {name: json.loads(json.dumps(model)) for (name, _), model in zip(names, made, strict=True) if model}
    exports: dict[str, list[tuple[str, Any]]] = {}
    for name, model in models.items():
        for exported, payload in model["exports"].items():
            exports.setdefault(exported, []).append((os.fsdecode(name), payload))
    started = time.process_time()
    hits = sum(len(analyze(model, lambda name: exports.get(name, ()), test=False)[0]) for model in models.values())
    ended = time.process_time()
    every = sum(len(list(functions(mask(content, "c/cpp").text, "c/cpp"))) for _, content in files)
    followed = sum(one["root"] for model in models.values() for one in model["functions"])
    yield Row("summarize", middle - began, size, f"{len(files)} files")
    yield Row(
        "analyze",
        ended - started,
        size,
        f"{followed} of {every} functions followed ({followed / max(every, 1):.0%}), {hits} findings",
    )


def child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_row(tool: str, command: Sequence[str], size: int, remark: str = "") -> Row:
    found = shutil.which(command[0])
    if found is None:
        return Row(tool, remark="not installed")
    before = child_seconds()
    subprocess.run([found, *command[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return Row(tool, child_seconds() - before, size, remark)


def cppcheck_row(files: Sequence[tuple[Path, bytes]]) -> Row:
    """Check one file after the other until the time is up."""
    found = shutil.which("cppcheck")
    if found is None:
        return Row("cppcheck", remark="not installed")
    before, ends, size, count = child_seconds(), time.monotonic() + SAMPLE_SECONDS, 0, 0
    for path, content in files[::SAMPLE_STEP]:
        left = ends - time.monotonic()
        if left <= 0:
            break
        with suppress(subprocess.TimeoutExpired):
            command = [found, "--max-configs=1", "--quiet", "--", str(path)]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=left)
        size, count = size + len(content), count + 1
    return Row("cppcheck", child_seconds() - before, size, f"--max-configs=1, a sample of {count} files")


def test_following_paths_costs_less_than_a_compiler_would(files: list[tuple[Path, bytes]]) -> None:
    size = sum(len(content) for _, content in files)
    rows = [
        *own_rows(files),
        run_row("flawfinder", ["flawfinder", "--dataonly", "--quiet", TREE], size),
        cppcheck_row(files),
        run_row("ripgrep", ["rg", "--count-matches", "--no-ignore", NAMES, TREE], size, "ten names"),
    ]

    print(f"\n{'':<24} {'CPU ms/MB':>10} {'MB':>8}")
    for row in rows:
        print(row)
    assert sum(row.seconds for row in rows[:2]) / (size / MEGABYTE) < 5
