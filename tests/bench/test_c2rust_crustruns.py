import shutil
from pathlib import Path

import pytest

from tests.bench.c2rust_crustruns import lines
from tests.support.servers import missing

# The compiler writes no code for `third`.
SOURCE = """
#include <stdio.h>
static inline __attribute__((always_inline)) int third(int n) { return n / 3; }
int sixth(int n) { return third(n) / 2; }
int main(void) { printf("%d\\n", sixth(42)); return 0; }
"""


@pytest.mark.slow
def test_functions_that_compilers_always_inline_are_called_in_rust(tmp_path: Path) -> None:
    for tool in ("cargo", "cc", "bwrap"):
        if not shutil.which(tool):
            missing(tool)
    (tmp_path / "trees" / "inlined").mkdir(parents=True)
    (tmp_path / "trees" / "inlined" / "a.c").write_text(SOURCE)

    report = list(lines(tmp_path / "trees", ["inlined"], 1, tmp_path / "work"))

    assert report == [
        "inlined: 1 of 1 programs print the same",
        "1 projects: 1 of 1 programs print the same with all translated functions in Rust",
    ]
