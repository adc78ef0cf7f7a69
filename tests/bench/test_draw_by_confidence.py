"""A sample has so many findings of each band of confidence, and does not say which."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.draw_by_confidence import Drawn, band, draw, main

FOUND = [
    Drawn(f"tree{number % 3}", f"{number}.c", number, f"rule{number % 7}", number % 10 / 10 + 0.05, "x();")
    for number in range(300)
]


@pytest.mark.parametrize(
    ("confidence", "begins"), [(0.0, 0.0), (0.49, 0.0), (0.5, 0.5), (0.79, 0.7), (0.8, 0.8), (1, 0.9)]
)
def test_bands_begin_at_tenths(confidence: float, begins: float) -> None:
    assert band(confidence) == begins


def test_no_band_rule_or_tree_gives_more_than_its_share() -> None:
    drawn = draw(1, FOUND, each=10, of_a_rule=9, of_a_tree=18, least=0.6)

    assert max(Counter(band(one.confidence) for one in drawn).values()) == 10
    assert max(Counter(one.rule for one in drawn).values()) <= 9
    assert max(Counter(one.tree for one in drawn).values()) <= 18
    assert min(one.confidence for one in drawn) >= 0.6


def test_the_seed_decides_whatever_the_order() -> None:
    assert draw(1, FOUND, 5, 9, 99) == draw(1, FOUND[::-1], 5, 9, 99) != draw(2, FOUND, 5, 9, 99)


def test_a_sample_says_no_confidence_and_leaves_out_test_code(tmp_path: Path) -> None:
    issue = {"file": "a.c", "line": 3, "pattern": "strcpy", "confidence": 0.8, "evidence": "strcpy(a, b);"}
    issues = [issue, {**issue, "line": 9, "test_code": True}]
    (tmp_path / "one.json").write_text(json.dumps({"run": {"scanned_root": "/src/tree"}, "issues": issues}))

    main(["7", str(tmp_path / "one.json"), "-o", str(tmp_path)])

    (shown,) = [json.loads(line) for line in (tmp_path / "sample.jsonl").read_text().splitlines()]
    (key,) = [json.loads(line) for line in (tmp_path / "key.jsonl").read_text().splitlines()]
    assert "confidence" not in shown
    assert (shown["tree"], shown["line"], key["number"], key["confidence"]) == ("tree", 3, shown["number"], 0.8)
