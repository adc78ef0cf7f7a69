"""Speed of the scanner and of flawfinder on the tree that BENCH_TREE names."""

import os
import time
from pathlib import Path

import pytest

from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.source.languages import is_header, language_of
from jarvis_workers.source.match import engines
from tests.bench.peers import cpu_of_children, flawfinder

pytestmark = pytest.mark.bench
TREE = os.environ.get("BENCH_TREE", "")
MEGABYTE = 1_000_000
# Of several runs the calmest counts, of ours as of the peer's: what else goes on in a machine is no cost of either.
RUNS = 5


@pytest.fixture(scope="module")
def files() -> list[tuple[bytes, bytes]]:
    if not TREE:
        pytest.skip("set BENCH_TREE to a directory of C code")
    paths = [path for path in sorted(Path(TREE).rglob("*")) if path.is_file() and language_of(os.fsencode(path))]
    return [(os.fsencode(path), path.read_bytes()) for path in paths]


def scan_seconds(scanner: Scanner, files: list[tuple[bytes, bytes]]) -> float:
    began = time.process_time()
    for name, content in files:
        scanner.scan(content, language=language_of(name) or "", header=is_header(name))
    return time.process_time() - began


@pytest.mark.parametrize("engine", engines())
def test_the_scan_reads_twelve_megabytes_a_cpu_second(engine: str, files: list[tuple[bytes, bytes]]) -> None:
    scanner = Scanner(engine)
    scan_seconds(scanner, [(b"a.c", b""), (b"a.rs", b"")])
    size = sum(len(content) for _, content in files)

    speed = size / MEGABYTE / min(scan_seconds(scanner, files) for _ in range(3))

    print(f"\n{engine}: {speed:.0f} MB/s of CPU over {len(files)} files, {size / MEGABYTE:.1f} MB")
    assert speed >= 12 or engine != "hyperscan"


def test_the_scan_is_nearly_twice_as_fast_as_flawfinder(files: list[tuple[bytes, bytes]]) -> None:
    code = [(name, content) for name, content in files if language_of(name) == "c/cpp"]
    size = sum(len(content) for _, content in code) / MEGABYTE
    scanner = Scanner()
    scan_seconds(scanner, [(b"a.c", b"")])

    rounds = [(scan_seconds(scanner, code), cpu_of_children(lambda: flawfinder(Path(TREE)))) for _ in range(RUNS)]

    ours, theirs = (min(seconds) for seconds in zip(*rounds, strict=True))
    print(f"\nscan: {size / ours:.1f}, flawfinder: {size / theirs:.1f} MB/s of CPU; ratio {theirs / ours:.2f}")
    assert theirs / ours >= 1.8


def test_a_small_file_without_hits_takes_less_than_ten_microseconds() -> None:
    scanner, content = Scanner(), b"int add(int a, int b) { return a + b; }\n" * 25
    scanner.scan(content, language="c/cpp")
    began = time.process_time()

    for _ in range(20_000):
        scanner.scan(content, language="c/cpp")

    microseconds = (time.process_time() - began) * 50
    print(f"\n{microseconds:.1f} microseconds for 1 KB")
    assert microseconds < 10
