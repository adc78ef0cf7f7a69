"""docs/seeds.md names a test for everything that the seed documents fix; every one of them is there."""

import re
from pathlib import Path

import pytest

from tests.agents.test_events import PAYLOADS

ROOT = Path(__file__).parent.parent
HELD, _, LEFT_OUT = (ROOT / "docs" / "seeds.md").read_text().partition("\n## Excluded")


# What reading C with `jarvis c2rust` takes over from the seeds.
READING_C = (
    *("collect", "--out", "--cc-root", "graph", "order", "symbols", "--path", "roots.txt", "symbols_raw.jsonl"),
    *("symbols.jsonl", "translation_order.jsonl", "ids", "items", "id", "key", "category", "kind", "name"),
    *("qualified_name", "signature", "return_type", "params", "ref", "calls", "language", "file", "start_line"),
    *("start_col", "end_line", "end_col", "compile_args_hash", "JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS"),
    *("JARVIS_C2RUST_DELAY_ENTRIES", "C2RUST_DELAY_ENTRIES", "compute_translation_order_jsonl", "generate_dot_from_db"),
    *("export_root_subgraphs_to_dir", "collect_function_names", "find_compile_commands", "load_compile_commands"),
    *("iter_source_files", "scan_file", "scan_directory", "find_root_function_ids", "compile_commands.json"),
    *("run_scan", "scan", "--dot", "--only-dot", "--subgraphs-dir", "--only-subgraphs", "--png", "--no-png"),
    *("--compile-commands", "--configure", "--build", "--allow-errors", "jarvis-c2rust", "jc2r"),
)


def rows(table: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_tables_have_rows_of_three_cells() -> None:
    assert len(rows(HELD)) > 90
    assert all(len(cells) == 3 and all(cells) for cells in rows(HELD) + rows(LEFT_OUT))


@pytest.mark.parametrize("cells", rows(HELD), ids=lambda cells: cells[0][:60])
def test_the_test_of_a_name_is_there(cells: list[str]) -> None:
    file, _, test = cells[-1].partition("::")

    assert re.search(rf"^(async )?def {re.escape(test)}\(", (ROOT / file).read_text(), re.MULTILINE)


@pytest.mark.parametrize("cells", rows(HELD) + rows(LEFT_OUT), ids=lambda cells: cells[0][:60])
def test_a_name_says_in_which_seed_it_stands(cells: list[str]) -> None:
    assert re.match(r"00[0-4] (`#|§)", cells[1])


def test_every_event_of_an_agent_stands_in_the_tables() -> None:
    named = {word for cells in rows(HELD) + rows(LEFT_OUT) for word in re.findall(r"[A-Z_]+", cells[0])}

    assert set(PAYLOADS) <= named


def test_every_name_of_reading_c_stands_in_the_tables() -> None:
    words = {word for cells in rows(HELD) + rows(LEFT_OUT) for word in re.findall(r"[-\w.]+", cells[0])}

    assert [name for name in READING_C if name not in words] == []
