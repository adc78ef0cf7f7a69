"""SymbolIndex are found wherever they were merged from, in the order of the files that export them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.errors import SnapshotDamaged
from jarvis_workers.sec.stages.summaries import BlobRange, index_of, key_of, model_of, pack_model, read_model, read_rows
from jarvis_workers.sec.stages.symbol_index import EXPORTERS_MAX, ByteLru, SymbolIndex, merge_names
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import open_blobs

words = st.text(min_size=1, max_size=12)
payloads = st.recursive(
    st.none() | st.integers() | words, lambda inner: st.lists(inner) | st.dictionaries(words, inner), max_leaves=4
)
models = st.fixed_dictionaries(
    {
        "exports": st.dictionaries(words, payloads, max_size=5),
        "calls": st.lists(words, max_size=5),
        "functions": st.lists(payloads, max_size=3),
    }
)


def blobs_in(place: Path) -> Blobs:
    return open_blobs(str(place / "blobs"), place / "cache")


def write_batch(blobs: Blobs, files: Sequence[tuple[bytes, dict[str, Any]]]) -> tuple[str, str]:
    """Write the models of a batch as the stage that makes them does."""
    packed = [(path, 1, pack_model(model)) for path, model in files]
    places: dict[str, tuple[BlobRange, BlobRange]] = {}
    content = b""
    for _, _, model in packed:
        places[model.key] = (
            BlobRange(len(content), len(model.face)),
            BlobRange(len(content + model.face), len(model.body)),
        )
        content += model.face + model.body
    return blobs.put(content), blobs.put(index_of(packed, places))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(batches=st.lists(st.lists(models, max_size=4), max_size=4), asked=st.lists(words, max_size=5))
def test_every_name_is_found_with_all_who_export_it(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, Any]]], asked: list[str]
) -> None:
    blobs = blobs_in(tmp_path_factory.mktemp("names"))
    files = [[(b"%d/%d.c" % (one, two), m) for two, m in enumerate(batch)] for one, batch in enumerate(batches)]
    root = merge_names(blobs, [write_batch(blobs, batch) for batch in files], blobs.put)
    names = SymbolIndex(blobs, root)
    everywhere = [(path.decode(), model) for batch in files for path, model in batch]

    wanted = {name: [(path, m["exports"][name]) for path, m in everywhere if name in m["exports"]] for name in asked}
    wanted |= {
        name: [(path, m["exports"][name]) for path, m in everywhere if name in m["exports"]]
        for _, model in everywhere
        for name in model["exports"]
    }
    assert {name: names.lookup(name) for name in wanted} == wanted
    names.fetch(wanted)
    assert {name: names.lookup(name) for name in wanted} == wanted


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(model=models)
def test_a_model_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, model: dict[str, Any]) -> None:
    blobs = blobs_in(tmp_path_factory.mktemp("models"))
    models_blob, index = write_batch(blobs, [(b"a/\xff.c", model)])
    (row,) = read_rows(blobs, index)
    packed = pack_model(model)

    assert model_of(blobs, models_blob, row) == model
    assert read_model(blobs, models_blob, (row.face, row.body), row.key) == packed
    assert (row.path, row.key, row.calls) == (b"a/\xff.c", packed.key, tuple(sorted(set(model["calls"]))))


def test_test_code_is_ignored_on_request(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    files = [(b"src/a.c", exporting("f", says=1)), (b"src/tests/a.c", exporting("f", "g", says=2))]
    names = SymbolIndex(blobs, merge_names(blobs, [write_batch(blobs, files)], blobs.put))

    assert names.lookup("f", near=b"src/tests/b.c") == [("src/tests/a.c", 2)]
    assert names.lookup("f", near=b"src/tests/b.c", tests=False) == [("src/a.c", 1)]
    assert names.lookup("g", tests=False) == []


@pytest.mark.parametrize(
    ("include", "path"),
    [
        ((), "src/size.h"),
        (("lib/small",), "lib/small/size.h"),
        (("none", "lib/large", "lib/small"), "lib/large/size.h"),
        (("src", "lib/small"), "src/size.h"),
        (("lib/sub",), "lib/sub/more/size.h"),
        (("none",), "src/size.h"),
    ],
)
def test_of_headers_with_a_macro_the_first_included_one_counts(
    tmp_path: Path, include: tuple[str, ...], path: str
) -> None:
    blobs = blobs_in(tmp_path)
    places = (b"lib/large/size.h", b"lib/small/size.h", b"lib/sub/more/size.h", b"src/size.h")
    files = [(place, exporting("macro SIZE", "f", says=place.decode())) for place in places]
    names = SymbolIndex(blobs, merge_names(blobs, [write_batch(blobs, files)], blobs.put))

    assert names.lookup("macro SIZE", near=b"src/a.c", include=include) == [(path, path)]
    assert names.lookup("f", near=b"src/a.c", include=include) == [("src/size.h", "src/size.h")]


def exporting(*names: str, says: Any = 1) -> dict[str, Any]:
    return {"exports": dict.fromkeys(names, says), "calls": []}


def test_answers_are_the_same_as_long_as_every_name_means_the_same(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)

    def answers(path: bytes, model: dict[str, Any]) -> str:
        return SymbolIndex(blobs, merge_names(blobs, [write_batch(blobs, [(path, model)])], blobs.put)).answers(
            ["f", "g"]
        )

    known = answers(b"a.c", exporting("f"))
    assert answers(b"a.c", exporting("f", "h")) == known
    assert answers(b"b.c", exporting("f")) != known
    assert answers(b"a.c", exporting("f", says=2)) != known
    assert answers(b"a.c", exporting("f", "g")) != known


@pytest.mark.slow
def test_many_names_are_cut_into_parts_that_are_read_once(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    many = [f"name_{number:05}" for number in range(20_000)]
    root = merge_names(blobs, [write_batch(blobs, [(b"a.c", exporting(*many))])], blobs.put)

    assert len(json.loads(blobs.read(root))["parts"]) > 1
    names = SymbolIndex(blobs, root)
    names.fetch(many)
    assert all(names.lookup(name) == [("a.c", 1)] for name in many[::997])
    assert names.lookup("name_20000") == []


@pytest.mark.slow
def test_a_name_of_too_many_files_is_nobodys(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)

    def exporters(count: int) -> int:
        files = [(b"%04d.c" % number, exporting("f")) for number in range(count)]
        return len(SymbolIndex(blobs, merge_names(blobs, [write_batch(blobs, files)], blobs.put)).lookup("f"))

    assert (exporters(EXPORTERS_MAX), exporters(EXPORTERS_MAX + 1)) == (EXPORTERS_MAX, 0)


def test_what_is_held_of_other_files_is_bounded() -> None:
    held = ByteLru(100)
    read: list[int] = []

    def reader(number: int) -> tuple[int, int]:
        read.append(number)
        return number, 40

    for number in (1, 2, 1, 3, 1, 2):
        assert held.get(number, lambda number=number: reader(number)) == number  # type: ignore[misc]
        assert held.size <= 100

    assert read == [1, 2, 3, 2]


@pytest.mark.parametrize("damage", [b"", b"\0" * 400, b"x\x9c"])
def test_what_is_no_model_is_refused(tmp_path: Path, damage: bytes) -> None:
    blobs = blobs_in(tmp_path)
    models_blob, index = write_batch(blobs, [(b"a.c", exporting("f"))])
    names = SymbolIndex(blobs, merge_names(blobs, [(models_blob, index)], blobs.put))
    (row,) = read_rows(blobs, index)
    blobs.path(models_blob).write_bytes(damage)

    with pytest.raises(SnapshotDamaged, match="corrupt"):
        model_of(blobs, models_blob, row)
    with pytest.raises(SnapshotDamaged, match="corrupt"):
        names.lookup("f")


def test_what_another_model_exports_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    models_blob, index = write_batch(blobs, [(b"a.c", exporting("f"))])
    other, _ = write_batch(blobs, [(b"a.c", exporting("f", says=2))])
    names = SymbolIndex(blobs, merge_names(blobs, [(models_blob, index)], blobs.put))
    (row,) = read_rows(blobs, index)
    blobs.path(models_blob).write_bytes(blobs.read(other))

    with pytest.raises(SnapshotDamaged, match="corrupt"):
        model_of(blobs, models_blob, row)
    with pytest.raises(SnapshotDamaged, match=r"exports of a\.c are corrupt"):
        names.lookup("f")


def test_a_key_tells_where_a_face_ends() -> None:
    assert key_of(b"ab", b"c") != key_of(b"a", b"bc")
