import shutil
from pathlib import Path

import pytest

from tests.bench.c2rust_crustbench import lines
from tests.support.servers import missing

SOURCE = """
#include <stdarg.h>
int twice(int n) { return 2 * n; }
int first(int n, ...) { return n; }
"""


@pytest.mark.slow
def test_report_counts_translated_functions(tmp_path: Path) -> None:
    for tool in ("cargo", "cc"):
        if not shutil.which(tool):
            missing(tool)
    for name, text in (("good", SOURCE), ("broken", "int f( {")):
        (tmp_path / "trees" / name).mkdir(parents=True)
        (tmp_path / "trees" / name / "a.c").write_text(text)

    report = list(lines(tmp_path / "trees", ["broken", "good"], 1, tmp_path / "crate", errors=True))

    assert report[1].startswith("| broken | does not compile: a.c: ")
    assert report[2] == "| good | 1 | 2 | 1 | 1 |"
    assert report[-3:] == [
        "1 projects: 2 functions, 1 translated (50.0 %),",
        "1 of them compile (100.00 %)",
        "| 1 | variadic |",
    ]
