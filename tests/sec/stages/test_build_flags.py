"""Data-flow rules read files as they are compiled: with macros from the command line, and headers where it says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.sec.stages.build_flags import FileFlags, encode_flags
from jarvis_workers.snapshots.resources import open_resources
from jarvis_workers.store.engine import Store
from tests.sec.stages.pipeline import Pipeline, given

CODE = """\
#include <string.h>
#include "size.h"
void f(const char *text)
{
    char given[GIVEN];
    memcpy(given, text, 16);
#ifndef LARGE
    char branch[64];
#else
    char branch[8];
#endif
    memcpy(branch, text, 16);
    char header[FROM_HEADER];
    memcpy(header, text, 16);
}
"""
FILES = {"src/a.c": CODE, "small/size.h": "#define FROM_HEADER 8\n", "large/size.h": "#define FROM_HEADER 64\n"}
GIVEN, BRANCH, HEADER = 6, 12, 14


@pytest.fixture
def lines(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Callable[..., list[int]]:
    resources = open_resources(str(tmp_path / "blobs"), tmp_path / "cache", results_bytes=10_000_000)
    pipeline = Pipeline(open_stores(sqlite_url), resources.blobs, cache=resources.cache)
    for name, content in FILES.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True)
        (tmp_path / "tree" / name).write_text(content)

    def scan(*defines: str, include: tuple[str, ...] = ()) -> list[int]:
        flags = encode_flags({"src/a.c": FileFlags(defines, include)}) if defines or include else None
        issues = pipeline.body(pipeline.do(tmp_path / "tree", build=flags))["issues"]
        return [one["line"] for one in issues if one["pattern"] == "flow_buffer_overflow"]

    return scan


@pytest.mark.slow
def test_a_file_is_read_with_its_own_flags(lines: Callable[..., list[int]]) -> None:
    assert lines() == []
    assert lines("GIVEN=8", include=("small",)) == [GIVEN, HEADER]
    assert lines("GIVEN=64", "LARGE", include=("large", "small")) == [BRANCH]
    assert lines("GIVEN=8", include=("small",)) == [GIVEN, HEADER]
    assert lines("GIVEN=8", include=("large",)) == [GIVEN]
    assert lines() == []


def test_without_flags_nothing_is_stored() -> None:
    assert given().contents == ()
