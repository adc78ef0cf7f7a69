"""What was kept is found again; what is damaged, torn or too much is as if it had never been there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_workers.snapshots.filecache import DIRECTORY_BYTES, MARKER, FileCache

RULES = "0123456789abcdef"
A, B = "a" * 43, "b" * 43


@pytest.fixture
def results(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "results", 1_000_000, tmp_path / "key")


def kept_files(results: FileCache) -> list[Path]:
    return [place for place in results.root.rglob("*") if place.is_file() and place.name != MARKER]


def test_cache_finds_results_by_rules_directory_and_key(results: FileCache) -> None:
    results.put(RULES, b"src", {A: b"[1]", B: b""})

    assert results.find(RULES, b"src", [A, B, "c" * 43]) == {A: b"[1]", B: b""}
    assert results.find("f" * 16, b"src", [A]) == {}
    assert results.find(RULES, b"lib", [A]) == {}
    assert results.find(RULES, b"src", []) == {}


def test_a_file_without_findings_costs_less_than_sixty_bytes(results: FileCache) -> None:
    results.put(RULES, b"src", {f"{number:043}": b"" for number in range(1000)})

    assert results.size().bytes < 60 * 1000


def test_what_is_kept_twice_is_found_as_it_was_kept_last(results: FileCache) -> None:
    results.put(RULES, b"", {A: b"[1]"})
    results.put(RULES, b"", {A: b"[2]"})

    assert results.find(RULES, b"", [A]) == {A: b"[2]"}


@given(place=st.integers(0, 250), flipped=st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cache_misses_what_a_flipped_byte_touches_and_serves_nothing_false(
    results: FileCache, place: int, flipped: int
) -> None:
    said = {A: b'[["unsafe_api",1,0.8,"strcpy"]]', B: b"[]"}
    results.clear()
    results.put(RULES, b"src", said)
    (file,) = kept_files(results)
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= flipped
    file.write_bytes(content)

    found = results.find(RULES, b"src", [A, B])
    assert found.items() <= said.items()
    results.put(RULES, b"src", said)
    assert results.find(RULES, b"src", [A, B]) == said


def test_what_was_cut_off_is_written_anew(results: FileCache) -> None:
    results.put(RULES, b"src", {A: b"[1]", B: b"[2]"})
    (file,) = kept_files(results)
    os.truncate(file, file.stat().st_size - 3)

    assert results.find(RULES, b"src", [A, B]) == {A: b"[1]"}
    results.put(RULES, b"src", {B: b"[2]"})
    assert results.find(RULES, b"src", [A, B]) == {A: b"[1]", B: b"[2]"}


def test_cache_evicts_the_least_recently_used_first(tmp_path: Path) -> None:
    results = FileCache(tmp_path / "results", 20_000, tmp_path / "key")
    for number in range(10):
        results.put(RULES, b"%d" % number, {A: b"x" * 1_000})
    for age, file in enumerate(sorted(kept_files(results))):
        os.utime(file, (1_000 + age, 1_000 + age))
    oldest = min(kept_files(results), key=lambda file: file.stat().st_mtime)
    results.put(RULES, b"big", {A: b"x" * 15_000})

    assert not oldest.exists()
    assert results.size().bytes <= 20_000
    assert results.find(RULES, b"big", [A])


def test_a_directory_that_holds_too_much_is_started_anew(results: FileCache) -> None:
    results.put(RULES, b"src", {A: b"x" * (DIRECTORY_BYTES + 1)})
    results.put(RULES, b"src", {B: b"[]"})
    results.put(RULES, b"src", {A: b"[]"})

    assert results.find(RULES, b"src", [A, B]) == {A: b"[]", B: b"[]"}


def test_cache_can_be_cleared(results: FileCache) -> None:
    results.put(RULES, b"src", {A: b"[1]"})

    assert results.clear().files == 1
    assert results.find(RULES, b"src", [A]) == {}
    assert results.clear() == (0, 0)


def test_an_unwritable_cache_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("not a directory")
    results = FileCache(tmp_path / "results", 1_000, tmp_path / "key")

    results.put(RULES, b"src", {A: b"[1]"})
    assert results.find(RULES, b"src", [A]) == {}


@pytest.mark.timing
def test_cache_serves_nothing_false_after_concurrent_writers_and_a_kill(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from jarvis_workers.snapshots.filecache import FileCache\n"
        "results = FileCache(Path(sys.argv[1]), 10**9, Path(sys.argv[1]).parent / 'key')\n"
        "for n in range(400):\n"
        "    results.put('rules', b'src', {f'{sys.argv[2]}{n:042}': b'%d' % n * 50})\n"
        "    if n == 50: print('going', flush=True)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "results")]
    writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE) for name in "abc"]
    assert writers[0].stdout is not None
    writers[0].stdout.readline()
    writers[0].kill()
    for writer in writers:
        writer.communicate(timeout=240)

    keys = [f"{name}{number:042}" for name in "abc" for number in range(400)]
    found = FileCache(tmp_path / "results", 10**9, tmp_path / "key").find("rules", b"src", keys)
    assert {key for key in keys if not key.startswith("a")} <= found.keys()
    assert all(payload == str(int(key[1:])).encode() * 50 for key, payload in found.items())


def test_a_forged_line_of_the_cache_is_not_served(tmp_path: Path) -> None:
    place, key = tmp_path / "results", tmp_path / "key"
    FileCache(place, 1_000_000, key).put(RULES, b"src", {A: b"[1]"})
    (file,) = kept_files(FileCache(place, 1_000_000, key))
    foreign = FileCache(tmp_path / "other", 1_000_000, tmp_path / "other key")
    foreign.put(RULES, b"src", {A: b""})
    (forged,) = kept_files(foreign)
    file.write_bytes(forged.read_bytes())

    assert FileCache(place, 1_000_000, key).find(RULES, b"src", [A]) == {}


@pytest.mark.parametrize(("rules", "directory"), [("f" * 16, b"src"), (RULES, b"lib")])
def test_a_line_of_the_cache_counts_only_where_it_was_written(results: FileCache, rules: str, directory: bytes) -> None:
    results.put(rules, directory, {A: b""})
    (theirs,) = kept_files(results)
    line = theirs.read_bytes()
    results.put(RULES, b"src", {A: b"[1]", B: b"[2]"})
    (ours,) = (file for file in kept_files(results) if file != theirs)
    ours.write_bytes(line)

    assert results.find(RULES, b"src", [A]) == {}


@pytest.mark.parametrize("mode", [0o620, 0o606, 0o644])
def test_a_cache_file_that_others_may_open_is_not_read(results: FileCache, mode: int) -> None:
    results.put(RULES, b"src", {A: b"[1]"})
    (file,) = kept_files(results)
    file.chmod(mode)

    assert results.find(RULES, b"src", [A]) == {}


def test_a_cache_key_that_others_may_read_is_replaced(tmp_path: Path) -> None:
    place, key = tmp_path / "results", tmp_path / "key"
    FileCache(place, 1_000_000, key).put(RULES, b"src", {A: b"[1]"})
    former = key.read_bytes()
    key.chmod(0o644)
    results = FileCache(place, 1_000_000, key)

    assert results.find(RULES, b"src", [A]) == {}
    results.put(RULES, b"src", {A: b"[2]"})
    assert FileCache(place, 1_000_000, key).find(RULES, b"src", [A]) == {A: b"[2]"}
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes() != former


def test_without_a_private_key_nothing_is_cached(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    results = FileCache(tmp_path / "results", 1_000_000, tmp_path / "file" / "key")
    results.put(RULES, b"src", {A: b"[1]"})

    assert results.find(RULES, b"src", [A]) == {}
    assert kept_files(results) == []
