"""The benchmark of readers: its recipes, its score, and its table."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import ModelServer, says
from tests.bench.reading.__main__ import main
from tests.bench.reading.fetching import fetch, problems
from tests.bench.reading.recipes import OWN, PUBLIC, PUBLIC_LABELS, Fix, Place, Tree, load_trees
from tests.bench.reading.running import PRICES
from tests.bench.reading.scoring import (
    CONFIRMED,
    NAMED,
    PROVED,
    Cost,
    Finding,
    Label,
    Result,
    load_labels,
    load_result,
    of_report,
    score,
)
from tests.bench.reading.table import Row, table
from tests.support.settings_files import write_settings

NAMED_TREES = ("sngrep", "libcue", "uftpd", "ytnef", "picohttpparser", "inih")
# Kept for later trials, so that nobody adapts a prompt to them.
RESERVED = {
    *("lldpd", "md4c", "little-cms", "wavpack", "memcached", "cups", "libwebsockets", "jq", "libssh2", "libexif"),
    *("libplist", "proftpd", "libheif"),
}
COPY = Fix("", "", "", (787,), (Place("src/a.c", "f", 10, 20),))
READ = Fix("", "", "", (125,), (Place("src/a.c", "f", 10, 20), Place("src/a.h", "g", 1, 3)))
TREE = Tree("t", "", "", (".",), 100, "plain", (COPY, READ))


def test_recipes_name_fixes_of_many_projects_with_their_functions() -> None:
    trees = load_trees(PUBLIC)
    new = [tree for name, tree in trees.items() if name not in NAMED_TREES]
    fixes = [fix for tree in new for fix in tree.fixes]

    assert sum(len(trees[name].fixes) for name in NAMED_TREES) == 24
    assert len(fixes) >= 15 and len({tree.repository for tree in new}) >= 8
    assert all(fix.date >= "2025" and fix.places and fix.cwes for fix in fixes)
    assert all(tree.lines <= 5_000 for tree in new)
    assert sum(tree.first_read == "plain" for tree in new) == len(new) // 2
    assert all(tree.repository.lower().partition("/")[2] not in RESERVED for tree in new)
    assert all(tree.selects(place.file) for tree in trees.values() for fix in tree.fixes for place in fix.places)


def test_labels_name_files_of_their_trees() -> None:
    trees = load_trees()
    labels = [*load_labels(PUBLIC_LABELS), *load_labels(OWN / "labels.json")]

    assert labels and all(trees[label.tree].selects(label.file) for label in labels)


def test_the_planted_defects_are_in_the_functions_of_their_recipes() -> None:
    own = load_trees(OWN / "trees.json")

    assert len(own) == 3
    assert [problem for name, tree in own.items() for problem in problems(tree, OWN / name)] == []


def test_a_fix_is_named_by_a_line_in_its_function_and_a_weakness_of_its_class() -> None:
    assert named(Finding("src/a.c", 10, 121, CONFIRMED)) == 1
    assert named(Finding("a.c", 20, 787, CONFIRMED)) == 1
    assert named(Finding("src/a.h", 2, 126, "undecided")) == 1
    assert named(Finding("src/a.c", 21, 787, CONFIRMED)) == 0
    assert named(Finding("src/a.c", 10, 416, CONFIRMED)) == 0
    assert named(Finding("src/ba.c", 10, 787, CONFIRMED)) == 0
    assert named(Finding("src/a.c", 10, 787, "dismissed")) == named(Finding("src/a.c", 10, 787, "heuristic")) == 0


def test_a_finding_counts_for_one_fix_only() -> None:
    general, special = Finding("src/a.c", 10, 119, CONFIRMED), Finding("src/a.c", 11, 787, CONFIRMED)

    assert (named(general), named(general, special), named(special, general)) == (1, 2, 2)


def test_a_claim_that_nobody_judged_is_unknown_and_not_false() -> None:
    labels = [Label("t", "src/b.c", 5, 5, (416,), True, "reader"), Label("t", "src/b.c", 9, 9, (), False, "reader")]
    claims = [("src/a.c", 10, 787), ("src/b.c", 5, 416), ("src/b.c", 5, 78), ("src/b.c", 9, 476)]
    result = result_of(*(Finding(*claim, CONFIRMED) for claim in claims), Finding("src/b.c", 9, 20, PROVED))

    found = score(TREE, result, labels)

    assert (found.claims, found.false_claims, found.unknown_claims) == (5, 2, 1)
    assert (found.others, found.true_defects) == (1, 2)
    assert (found.proofs, found.false_proofs, found.unread_proofs) == (1, 1, 0)


def test_proofs_add_true_defects_that_other_readers_get_credit_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    product, plain, labels = tmp_path / "r.json", tmp_path / "p.json", tmp_path / "labels.json"
    product.write_text(json.dumps(report(("picture.c", 24, 787, "proved"), ("main.c", 13, 252, "proved"))))
    findings = [{"file": "main.c", "line": 13, "class": "CWE-252", "text": "unchecked"}]
    plain.write_text(json.dumps({"findings": findings, "tokens": 800}))
    results = (f"gallery={product}", f"gallery={plain}")

    before = table_of(capsys, "score", *results, "--labels", labels)
    after = table_of(capsys, "score", *results, "--labels", labels, "--add-proved")

    assert [row[5] for row in before] == ["0", "0"] and [row[5] for row in after] == ["1", "1"]
    assert [row[2] for row in after] == ["1 of 4", "0 of 4"]
    assert after[0][6:9] == ["0 of 2", "-, 2 unread", "1,200"] and after[1][6:9] == ["0 of 1", "-", "800"]
    assert [label["by"] for label in json.loads(labels.read_text())] == ["proof"]


def test_costs_with_answers_from_the_cache_are_unknown(tmp_path: Path) -> None:
    asked, again = tmp_path / "asked.json", tmp_path / "again.json"
    asked.write_text(json.dumps(report()))
    again.write_text(json.dumps(report(remembered=3)))

    assert load_result(asked, "t").cost == Cost(1_200, 700, 0.5, 8)
    assert load_result(again, "t").cost == Cost()


def test_the_sum_of_a_reader_is_unknown_if_a_part_is() -> None:
    known = result_of(Finding("src/a.c", 10, 787, CONFIRMED), cost=Cost(500, 400, 0.02, 2))
    rows = [Row("t", one, score(TREE, one, [])) for one in (known, known, replace(known, cost=Cost(tokens=500)))]

    *_, partly = table(rows).splitlines()
    *_, total = table(rows[:2]).splitlines()

    assert "| all | product | 3 of 6 |" in partly and "| 1,500 | unknown | 5.0 | 500 | unknown |" in partly
    assert "| all | product | 2 of 4 |" in total and "| 1,000 | 4.0 | 5.0 | 500 | 0.020 | - |" in total


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("score", "nothing=r.json"), "no tree 'nothing'; there are sngrep,"),
        (("score", "relay=gone.json"), "gone.json"),
        (("score", "relay=wrong.json"), "wrong.json: neither a JSON report nor a list of findings"),
        (("score", "relay=words.json"), "a.c:1: class 'overflow' is no number of the CWE list"),
        (("fetch", "out", "nothing"), "no tree 'nothing'"),
        (("fetch", "out", "inih", "--origin", "file:///nowhere"), "'fetch', '-q', '--depth', '1', 'file:///nowhere'"),
        (("plain", str(OWN), "relay", "--group", "missing"), "missing"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.json").write_text("[]")
    Path("words.json").write_text(json.dumps({"findings": [{"file": "a.c", "line": 1, "class": "overflow"}]}))

    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_tree_is_fetched_by_its_commit_and_compared_with_its_recipe(tmp_path: Path) -> None:
    origin = tmp_path / "owner+project"
    (origin / "src").mkdir(parents=True)
    (origin / "src" / "a.c").write_text("int f(int n)\n{\n    return n;\n}\n")
    (origin / "src" / "b.c").write_text("int g;\n")
    git = ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    fix = replace(COPY, places=(Place("src/a.c", "f", 1, 4),))
    tree = Tree("t", "owner/project", commit, ("src",), 4, "plain", (fix,), without=("src/b",))
    address = f"file://{tmp_path}/{{owner}}+{{project}}"

    assert fetch(tree, tmp_path / "out", address) == []
    assert [path.name for path in (tmp_path / "out").rglob("*.c")] == ["a.c"]
    moved = replace(tree, lines=9, fixes=(COPY, *tree.fixes))
    assert fetch(moved, tmp_path / "again", address, whole=True) == [
        "t: 4 lines, the recipe has 9",
        "t: src/a.c: lines 10 to 20 are not the function f",
    ]
    assert (tmp_path / "again" / "src" / "b.c").exists()


def test_a_plain_conversation_sees_whole_numbered_files_and_is_scored_beside_the_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    found = [{"file": "relay.c", "line": 36, "class": 78, "text": "LIST ;id runs id"}]
    answer = says(f"Here:\n```json\n{json.dumps(found)}\n```", usage={"prompt_tokens": 900, "completion_tokens": 100})

    with ModelServer(answer) as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k", "prices": PRICES}
        write_settings(tmp_path, {"models": {"m": group}}, tmp_path / "data")
        code = main(["plain", str(OWN), "relay", "--group", "m"])
    (request,) = server.requests

    *_, row = capsys.readouterr().out.splitlines()
    assert (
        code == 0 and "| relay | plain | 1 of 2 | - | - | 0 | 0 of 1 | - | 1,000 | 16.4 | 16.4 | 1,000 | 0.004 |" in row
    )
    assert "relay.c:\n     1\t#include <stdio.h>" in request["messages"][0]["content"]
    assert "tools" not in request


def test_a_reader_without_a_server_answers_in_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plain", str(OWN), "gallery", "--output", str(tmp_path), "--part-tokens", "700"]

    assert main(arguments) == 0
    parts = sorted(path.name for path in tmp_path.glob("*.md"))
    for part in parts:
        (tmp_path / part).with_suffix(".answer").write_text("[]")
    assert main(arguments) == 0
    (tmp_path / "gallery-1.answer").write_text("I see no bugs.")
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert parts == ["gallery-1.md", "gallery-2.md"]
    assert "gallery: 2 requests, about " in out and "| gallery | plain | 0 of 4 |" in out and "| unknown | - |" in out
    assert "the answer that begins 'I see no bugs.' is no list of findings" in err


def test_a_candidate_of_a_rule_that_the_model_left_open_is_nothing_that_it_has_named() -> None:
    given = report(("src/a.c", 12, 787, "undecided"))
    rule = {**given["issues"][0], "pattern": "unsafe_api", "has_risk": None}
    statuses = {"undecided": None, "heuristic": None, "review": True, CONFIRMED: True}
    ruled = [
        named(*of_report({**given, "issues": [{**rule, "status": one, "has_risk": risk}]}, "t").findings)
        for one, risk in statuses.items()
    ]

    assert (named(*of_report(given, "t").findings), ruled) == (1, [0, 0, 1, 1])


def test_a_row_says_how_many_lines_the_product_has_read() -> None:
    result = of_report(report(), "t")

    assert table([Row("t", result, score(TREE, result, []))]).endswith("| 60 of 100 |")


def named(*findings: Finding) -> int:
    return score(TREE, result_of(*findings), []).named


def result_of(*findings: Finding, cost: Cost = Cost()) -> Result:  # noqa: B008
    return Result("t", "product", findings, cost, proves=all(one.status != NAMED for one in findings))


def report(*issues: tuple[str, int, int, str], remembered: int = 0) -> Mapping[str, Any]:
    """Return the parts of a JSON report that count."""
    stages = {"read": (600, 100), "verify": (200, 50), "prove": (200, 50)}
    by_stage = {name: {"calls": 4, "prompt": one, "completion": two} for name, (one, two) in stages.items()}
    model = {"remembered": remembered, "prompt": 1_000, "completion": 200, "by_stage": by_stage}
    names = ("file", "line", "cwe", "status")
    rows = [dict(zip(names, issue, strict=True), description="d", pattern="discovered") for issue in issues]
    summary = {"reading": {"lines_read": 60}}
    return {"run": {"model": model, "cost": 0.5, "stages": {}}, "issues": rows, "summary": summary}


def table_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[list[str]]:
    assert main([str(one) for one in arguments]) == 0
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()[2:]]
