"""A batch is scanned once: what is known is not looked at again, and what comes of it is the same."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.history import BatchPayload
from jarvis_workers.sec.rules import CODE
from jarvis_workers.sec.scanner import Hit, Scan
from jarvis_workers.sec.stages.results import spots_of
from jarvis_workers.sec.stages.scan_batch import ScanWork, decide, recall
from jarvis_workers.sec.stages.scan_files import ScanCache, keyed
from jarvis_workers.sec.suppressions import Remark
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.filecache import MARKER, FileCache
from jarvis_workers.snapshots.pack import pack
from jarvis_workers.snapshots.reader import Entry, open_snapshot
from jarvis_workers.snapshots.resources import PATTERNS_FOLDER, Resources, open_resources
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.source.identity import code_files, engine_identity
from jarvis_workers.store.values import Commit
from tests.cli.commands import COPY, SYSTEM

FILES = {"a.c": COPY, "src/b.c": SYSTEM, "src/c.c": "int a;\n", "src/d.h": "int f(void);\n", "tests/b.c": SYSTEM}
words = st.text(max_size=30)
hits = st.builds(Hit, words, st.integers(1), st.floats(0, 1), words, st.none() | words)
scans = st.builds(
    Scan,
    st.lists(hits).map(tuple),
    st.none() | words,
    st.lists(st.builds(Remark, st.integers(1), words, words)).map(tuple),
)


@pytest.fixture
def resources(tmp_path: Path) -> Resources:
    return open_resources(str(tmp_path / "blobs"), tmp_path / "cache", results_bytes=1_000_000)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def work_on(blobs: Blobs, tree: Path, **changes: Any) -> ScanWork:
    snapshot = pack(tree, Selection(frozenset({b".c", b".h"})), blobs)
    with open_snapshot(blobs, snapshot.id) as reader:
        length = reader.index.manifest_bytes
    return ScanWork(0, length, snapshot=snapshot.id, **changes)


def remaining_files(tmp_path: Path) -> list[Path]:
    return [place for place in (tmp_path / "cache").rglob("*") if place.is_file() and place.name != MARKER]


def test_scan_cache_serves_the_second_scan_whole(resources: Resources, tree: Path) -> None:
    work = work_on(resources.blobs, tree)
    assert recall(work, resources) is None
    first, second = decide(work, resources), decide(work, resources)

    assert (first.files, first.cached, len(spots_of(first))) == (5, 0, 5)
    assert second == first._replace(cached=5) == recall(work, resources)


def test_what_is_known_needs_no_look_at_the_files(resources: Resources, tree: Path) -> None:
    work = work_on(resources.blobs, tree)
    first = decide(work, resources)
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        shards = reader.index.shards
    for shard in shards:
        resources.blobs.delete(shard)

    assert decide(work, resources) == first._replace(cached=5)


def test_scan_cache_misses_only_what_has_changed(resources: Resources, tree: Path) -> None:
    decide(work_on(resources.blobs, tree), resources)
    (tree / "src/b.c").write_text(COPY + SYSTEM)
    (tree / "src/aa.c").write_text("int new;\n")
    work = work_on(resources.blobs, tree)
    assert recall(work, resources) is None

    again = decide(work, resources)
    assert (again.files, again.cached) == (6, 4)
    assert {spot.pattern for spot in spots_of(again) if spot.path == b"src/b.c"} > {"unsafe_api"}


def test_scan_cache_key_has_the_context_of_a_file(resources: Resources, tree: Path) -> None:
    decide(work_on(resources.blobs, tree), resources)
    (tree / "a.h").write_text(COPY)
    (tree / "test_a.c").write_text(COPY)

    again = decide(work_on(resources.blobs, tree), resources)
    assert again.cached == 5
    assert [spot.path for spot in spots_of(again) if spot.pattern == "unsafe_api"] == [b"a.c", b"a.h", b"test_a.c"]
    assert len({spot.confidence for spot in spots_of(again) if spot.pattern == "unsafe_api"}) == 2


def test_scan_cache_key_has_the_rules(resources: Resources, tree: Path) -> None:
    work = work_on(resources.blobs, tree)
    decide(work, resources)
    chosen = resources.blobs.put(b'{"off": ["unsafe_api"], "packages": {}, "project": []}')

    assert recall(replace(work, rules=chosen), resources) is None
    assert decide(replace(work, rules=chosen), resources).cached == 0


def test_without_the_cache_no_result_is_read_or_written(resources: Resources, tree: Path, tmp_path: Path) -> None:
    work = work_on(resources.blobs, tree, cache=False)
    first = decide(work, resources)
    assert {place.parent.name for place in remaining_files(tmp_path)} <= {PATTERNS_FOLDER}
    decide(replace(work, cache=True), resources)

    assert recall(work, resources) is None
    assert decide(work, resources) == first


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-9], lambda content: content.replace(b"strcpy", b"strcpx")]
)
def test_a_damaged_scan_cache_is_scanned_again_and_mended(
    resources: Resources, tree: Path, tmp_path: Path, damage: Any
) -> None:
    work = work_on(resources.blobs, tree)
    first = decide(work, resources)
    for file in remaining_files(tmp_path):
        file.write_bytes(damage(file.read_bytes()))

    assert spots_of(decide(work, resources)) == spots_of(first)
    assert recall(work, resources) == first._replace(cached=5)


def test_a_file_that_could_not_be_read_is_not_taken_for_known(resources: Resources, tree: Path, tmp_path: Path) -> None:
    work = work_on(resources.blobs, tree)
    with open_snapshot(resources.blobs, work.snapshot) as reader:
        entries = reader.entries(work.offset, work.length)
        (shard,) = reader.index.shards
    whole = resources.blobs.path(shard).read_bytes()
    resources.blobs.path(shard).write_bytes(whole.replace(b"strcpy", b"strcpx"))

    damaged = decide(work, resources)
    assert [path for path, _ in damaged.not_checked] == [b"a.c"]
    assert damaged.files == len(entries) - 1
    resources.blobs.path(shard).write_bytes(whole)
    assert decide(work, resources).not_checked == ()


def test_a_batch_for_which_there_is_no_time_is_done_in_parts(resources: Resources, tree: Path) -> None:
    whole = decide(work_on(resources.blobs, tree, cache=False), resources)
    work = work_on(resources.blobs, tree, cache=False, limits=FileLimits(batch_seconds=0))
    parts: list[Commit] = []
    waiting = [work]
    while waiting:
        parts.append(decide(waiting.pop(), resources))
        rest = [BatchPayload.from_json(job.payload) for job in parts[-1].children]
        waiting += [replace(work, offset=one.offset, length=one.length) for one in rest]

    assert len(parts) == len(FILES)
    assert sorted(spot for part in parts for spot in spots_of(part)) == sorted(spots_of(whole))
    assert sum(part.files for part in parts) == whole.files


def test_a_large_file_may_take_longer() -> None:
    small, large = (Entry(b"a.c", size, "", 0, 0) for size in (0, 250_000_000))

    assert (FileLimits(1.0).seconds(small), FileLimits(1.0).seconds(large)) == (10.0, 120.0)


def test_a_profile_names_rules_and_files(resources: Resources, tree: Path) -> None:
    commit = decide(work_on(resources.blobs, tree, cache=False, profile=True), resources)

    assert commit.profile is not None
    assert decide(work_on(resources.blobs, tree, cache=False), resources) == commit._replace(profile=None)


@pytest.mark.timing
def test_whatever_a_scan_is_made_of_decides_what_it_is_remembered_under() -> None:
    """Else a version that finds more would go on telling what the one before has found."""
    program = (
        "import sys, jarvis_workers.sec.scanner, jarvis_workers.sec.rules.custom\n"
        "print(*(name for name, module in sys.modules.items() if name.startswith('jarvis_workers')"
        " and (not hasattr(module, '__path__') or name == 'jarvis_workers.sec.rules')))"
    )
    made_of = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    deciding = {name.removesuffix(".py").replace("/", ".") for name, _ in code_files(CODE)}

    assert set(made_of) <= {name.removesuffix(".__init__") for name in deciding}


@given(scan=scans)
def test_a_scan_is_remembered_as_it_was(tmp_path_factory: pytest.TempPathFactory, scan: Scan) -> None:
    entry = Entry(os.fsencode("src/\udce9.c"), 1, "0" * 64, 0, 0)
    place = tmp_path_factory.mktemp("known")
    known = ScanCache(FileCache(place, 1_000_000, place / "key"), None)
    ((key, _),) = files = keyed([entry])
    known.put(files, {key: scan})

    assert known.recall(files) == {key: scan}


def test_a_cached_result_is_served_only_to_the_interpreter_and_engines_that_found_it(tmp_path: Path) -> None:
    results = FileCache(tmp_path / "results", 1_000_000, tmp_path / "key")
    files = keyed([Entry(b"src/a.c", 1, "0" * 64, 0, 0)])
    found = {files[0][0]: Scan((Hit("unsafe_api", 1, 0.9, "strcpy(a, b);", None),), None, ())}
    debian, newer = (engine_identity(f"cpython {version}") for version in ("3.11.2", "3.11.7"))

    ScanCache(results, None, debian).put(files, found)

    assert ScanCache(results, None, debian).recall(files) == found
    assert ScanCache(results, None, newer).recall(files) == {}
    assert ScanCache(results, None).recall(files) == {}
