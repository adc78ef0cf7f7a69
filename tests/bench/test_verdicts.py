"""The verdict benchmark: recorded conversations are replayed over the labelled code, and scored."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step
from tests.bench.verdicts.pairs import lay_out_pairs
from tests.bench.verdicts.replay import Replay
from tests.bench.verdicts.scoring import OWN, Label, own_labels, score, shown
from tests.cli.commands import Jarvis
from tests.cli.conftest import jarvis as jarvis
from tests.support.judging import judge
from tests.support.settings_files import write_settings

CODE = OWN / "code"


def test_every_label_names_a_line_of_the_code() -> None:
    lines = {path.name: path.read_text().splitlines() for path in CODE.glob("*.c")}

    assert all(label.file in lines and 0 < label.first <= len(lines[label.file]) for label in own_labels())
    assert {label.risk for label in own_labels()} == {True, False}


def test_a_label_without_a_finding_says_nothing_about_verdicts() -> None:
    labels = [Label("a.c", 1, 9, True), Label("b.c", 1, 1, True), Label("c.c", 1, 1, False), Label("d.c", 2, 2, False)]
    found = [("a.c", 3, "dismissed"), ("a.c", 4, "confirmed"), ("c.c", 1, "confirmed"), ("d.c", 1, "confirmed")]
    issues = [{"file": file, "line": line, "status": status} for file, line, status in found]

    result = score(labels, {"issues": issues})

    assert (result.precision, result.recall, result.without_finding, result.missed) == (0.5, 1.0, 2, 0)


@pytest.mark.slow
def test_recorded_conversations_have_their_precision_and_recall(jarvis: Jarvis) -> None:
    report = judged(jarvis, Replay())

    result = score(own_labels(), report)
    assert (result.risky, result.harmless, result.without_finding) == ({"confirmed": 8}, {"dismissed": 5}, 0)
    assert "precision 100.0 %  recall 100.0 %  risks dismissed 0" in shown("recorded", result, report)


@pytest.mark.slow
def test_a_model_that_confirms_all_has_less_precision(jarvis: Jarvis) -> None:
    def confirm(body: Body) -> Step:
        return judge(body, always="confirmed")

    result = score(own_labels(), judged(jarvis, confirm))

    assert (result.precision, result.recall) == (8 / 13, 1.0)


def test_both_sides_of_a_pair_are_laid_out_from_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = tmp_path / "origin"
    (origin / "lib").mkdir(parents=True)
    git = ["git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    for code in (
        "int f(int n)\n{\n    return n;\n}\n",
        "int f(int n)\n{\n    if (n)\n        return n;\n    return 0;\n}\n",
    ):
        (origin / "lib" / "a.h").write_text("int f(int);\n")
        (origin / "lib" / "a.c").write_text(f'#include "a.h"\n{code}')
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    pair = {"project": "p", "commit": commit, "file": "lib/a.c", "function": "f", "cve": "CVE-0"}
    monkeypatch.setattr("tests.bench.verdicts.pairs.OWN", tmp_path)
    (tmp_path / "pairs.json").write_text(json.dumps([pair, {**pair, "project": "other"}]))

    labels = list(lay_out_pairs({"p": str(origin / ".git")}, tmp_path / "out"))

    assert [(label.first, label.last, label.risk) for label in labels] == [(2, 5, True), (2, 7, False)]
    assert all((tmp_path / "out" / label.file).exists() for label in labels)
    assert len(list((tmp_path / "out").rglob("a.h"))) == 2


def judged(jarvis: Jarvis, model: object) -> dict[str, object]:
    """Return the report on the labelled code by a model."""
    shutil.copytree(CODE, jarvis.place / "src")
    with ModelServer(forever=model) as server:  # type: ignore[arg-type]
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(jarvis.place, {"models": {"m": group}, "model_group": "m"})
        ended = jarvis("sec", "agent", "-p", "src", "--format", "json", "--lang", "en")
    report: dict[str, object] = json.loads(ended.out)
    return report
