"""The bench of fixes lays out pairs of a history, and counts what names a defect and is gone after its fix."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from tests.bench import fix_pairs
from tests.bench.fix_pairs import ORIGINS, SEED, Found, Pair, build, pairs, summary

USED = "#include <stdlib.h>\nint f(void)\n{\n\tchar *p = malloc(2);\n\tif (!p)\n\t\treturn 0;\n\t%s\n}\n"
BEFORE, AFTER = USED % "free(p);\n\treturn *p;", USED % "int c = *p = 1;\n\tfree(p);\n\treturn c;"


def git(repository: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, "-C", repository, *arguments], check=True, capture_output=True)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    repository = tmp_path / "project"
    repository.mkdir()
    git(repository, "init")
    for text, message in (
        (BEFORE, "Add f"),
        (AFTER, "Fix a use-after-free in f\n\nThis is CVE-2024-1234."),
        (AFTER + "\n", "Fix a typo in CVE-2024-1235"),
    ):
        (repository / "f.c").write_text(text)
        git(repository, "add", ".")
        git(repository, "commit", "-m", message)
    return repository / ".git"


def test_a_fix_is_laid_out_and_named(history: Path, tmp_path: Path) -> None:
    build(tmp_path / "out", [f"project={history}"], 14, any_fix=False)
    labels = json.loads((tmp_path / "out" / "labels.json").read_text())
    assert [(one["class"], one["old"], one["lines"]) for one in labels.values()] == [("use after free", [[2, 9]], 9)]
    assert (tmp_path / "out" / "project_01" / "new" / "f.c").read_text() == AFTER

    [pair] = pairs(tmp_path / "out", 1)

    assert pair.gone(pair.naming(0.4, pair.kind))
    assert not pair.naming(0.4, "format")


def test_a_rule_does_not_count_for_a_project_that_it_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = Found("flow_use_after_free", 3, 0.6)
    found = [Pair(name, "use after free", 10, [finding], [], [finding]) for name in ("a", "b")]
    monkeypatch.setattr(fix_pairs, "origins", lambda: {"a": frozenset({"flow_use_after_free"})})

    lines = list(summary(found))

    assert "| 0.0 | 1.000 | 0.500 | 0.500 | 0.000 | 100.0 |" in lines
    assert "| 0.7 | 0.000 | 0.000 | 0.000 | 0.000 | 0.0 |" in lines
    assert "| flow_use_after_free | 2 | 1 |" in lines


def test_origins_name_rules_that_exist() -> None:
    assert json.loads(ORIGINS.read_text()).keys() <= RULES_BY_PATTERN.keys()


def test_chance_is_measured_on_the_pairs_that_get_another_class() -> None:
    finding = Found("flow_use_after_free", 3, 0.6)
    found = [Pair("a", kind, 10, [finding], [], [finding]) for kind in ("use after free", "leak", "format")]

    lines = list(summary(found))

    shuffled = ["use after free", "leak", "format"]
    random.Random(SEED).shuffle(shuffled)
    others = [kind for kind, pair in zip(shuffled, found, strict=True) if kind != pair.kind]
    expected = others.count("use after free") / len(others)
    assert f"| 0.0 | 1.000 | 0.333 | 0.333 | {expected:.3f} | 100.0 |" in lines
