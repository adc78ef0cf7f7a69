"""A sample has so many findings of each band of confidence, and does not say which."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.draw_by_confidence import PLANTED, Drawn, band, draw, main, plant

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


def test_planted_lines_call_what_a_finding_calls_and_are_reported_by_no_rule(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("strcpy(a, b);\nstrcpy(c, d);\nfree(a);\nif (x) strcpy(e, f);\np->q = 1;\n")
    found = [Drawn("tree", "a.c", 1, "copy", 0.8, "strcpy(a, b);"), Drawn("tree", "a.c", 2, "other", 0.5, "x")]

    planted = plant(3, found[:1], found, {"tree": tmp_path}, many=5)

    assert planted == [Drawn("tree", "a.c", 4, "copy", PLANTED, "if (x) strcpy(e, f);")]


def test_with_planted_lines_no_finding_shows_its_steps(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("x();\nx();\n")
    step = {"file": "a.c", "line": 1, "note": "x() may return NULL"}
    issue = {"file": "a.c", "line": 1, "pattern": "null", "confidence": 0.8, "evidence": "x();", "path": [step]}
    (tmp_path / "one.json").write_text(json.dumps({"run": {"scanned_root": str(tmp_path)}, "issues": [issue]}))

    main(["7", str(tmp_path / "one.json"), "-o", str(tmp_path), "--plant", "1"])

    shown = [json.loads(line) for line in (tmp_path / "sample.jsonl").read_text().splitlines()]
    keys = [json.loads(line)["confidence"] for line in (tmp_path / "key.jsonl").read_text().splitlines()]
    assert {(one["line"], *one["steps"]) for one in shown} == {(1,), (2,)}
    assert sorted(keys) == [PLANTED, 0.8]
