"""The functions of the Python API over C projects and over the files of their scans."""

import json
from pathlib import Path

import pytest

from jarvis_workers.api import (
    UsageError,
    collect_function_names,
    compute_translation_order_jsonl,
    export_root_subgraphs_to_dir,
    find_compile_commands,
    find_root_function_ids,
    generate_dot_from_db,
    iter_source_files,
    load_compile_commands,
    scan_directory,
    scan_file,
)

LIBRARY = {
    "src/pack.c": '#include "pack.h"\nstatic int bits(int n) { return EXTRA; }\nint pack(int n) { return bits(n); }\n',
    "src/pack.h": "typedef struct pack_state pack_state;\nint pack(int n);\n",
    "main.c": '#include "src/pack.h"\nint main(void) { return pack(1); }\n',
    "notes.txt": "",
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "library"
    for name, text in LIBRARY.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    calls = [{"directory": str(root), "file": file, "arguments": ["cc", "-DEXTRA=1", "-c", file]} for file in sources()]
    (root / "build").mkdir()
    (root / "build" / "compile_commands.json").write_text(json.dumps(calls))
    monkeypatch.chdir(tmp_path)
    return root


def sources() -> list[str]:
    return [name for name in LIBRARY if name.endswith(".c")]


def test_compile_commands_are_found_and_loaded(library: Path, tmp_path: Path) -> None:
    path = find_compile_commands(library)

    assert path == library / "build" / "compile_commands.json"
    assert find_compile_commands(library / "build") == path
    assert find_compile_commands(tmp_path) is None
    assert [command.file for command in load_compile_commands(path, library)] == [b"main.c", b"src/pack.c"]


def test_sources_are_listed_in_order_without_headers(library: Path) -> None:
    assert list(iter_source_files(library)) == [library / "main.c", library / "src" / "pack.c"]


def test_a_file_is_read_with_arguments(library: Path) -> None:
    unit = scan_file(library / "src" / "pack.c", library, ["-DEXTRA=1"])
    broken = scan_file("library/src/pack.c", "library")

    assert [one.name for one in unit.symbols if one.category == "function" and one.is_definition] == ["bits", "pack"]
    assert not unit.errors
    assert "EXTRA" in broken.errors[0].message


@pytest.mark.parametrize(("file", "message"), [("library/gone.c", "no such file"), ("other.c", "is not below library")])
def test_a_file_that_is_not_in_the_project_is_refused(library: Path, file: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        scan_file(file, "library")


def test_a_project_is_scanned_and_its_files_are_used(library: Path, tmp_path: Path) -> None:
    symbols = scan_directory(library)
    by_id = {row["id"]: row["name"] for row in map(json.loads, symbols.read_text().splitlines())}

    assert symbols == library / ".jarvis" / "c2rust" / "symbols.jsonl"
    assert {"bits", "pack", "main", "pack_state"} <= {*by_id.values()}
    for db_path in (symbols, symbols.parent, library):
        assert [by_id[one] for one in find_root_function_ids(db_path)] == ["main"]
    order = compute_translation_order_jsonl(library)
    functions = [by_id[one] for line in order.read_text().splitlines() for one in json.loads(line)["ids"]]
    assert order == symbols.parent / "translation_order.jsonl"
    assert [name for name in functions if name in ("bits", "pack", "main")] == ["bits", "pack", "main"]
    assert compute_translation_order_jsonl(symbols, tmp_path / "order.jsonl").read_text() == order.read_text()
    assert 'label="bits"' in generate_dot_from_db(symbols, tmp_path / "graph.dot").read_text()
    (subgraph,) = export_root_subgraphs_to_dir(symbols, tmp_path / "subgraphs")
    assert subgraph.name.endswith("_main.dot")


def test_a_missing_header_is_an_error_by_name_and_nothing_is_written(library: Path) -> None:
    (library / "src" / "pack.h").unlink()

    with pytest.raises(UsageError, match=r"main\.c: main\.c:1: .*pack\.h.* not found"):
        scan_directory(library)
    assert not (library / ".jarvis").exists()
    assert scan_directory(library, allow_errors=True).exists()


def test_names_of_headers_are_collected(library: Path, tmp_path: Path) -> None:
    out = collect_function_names(["library/src/pack.h", "library/main.c"], "roots.txt")

    assert (out, out.read_text()) == (Path("roots.txt"), "pack\n")


def test_without_a_scan_there_are_no_symbols(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no symbols in"):
        find_root_function_ids(tmp_path)
