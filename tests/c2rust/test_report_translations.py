"""Reports of c2rust in Chinese: every text has a translation that fits."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from jarvis_cli import progress
from jarvis_workers.c2rust import conversion, replacement_lines, report
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, SuiteResult
from jarvis_workers.c2rust.conversion_difference import compare_conversions
from jarvis_workers.c2rust.function_map import STATUSES
from jarvis_workers.c2rust.report import difference_formats, page
from jarvis_workers.c2rust.report.conversion_text import ACCEPTED, CAUSES, conversion_markdown, conversion_text
from jarvis_workers.c2rust.report.difference_formats import ConversionSides
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.rule_counts import SeverityCounts
from jarvis_workers.service.c2rust import conversion_diff
from jarvis_workers.source.clang.unit import ReferenceKind
from jarvis_workers.words import COUNTED_NOUN, STANDING, TRANSLATED, TRANSLATED_TEXT
from tests.texts import said

HERE = Path(report.__file__).parent
TABLES = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in TRANSLATED}
MODULES = [
    HERE / f"{name}.py" for name in ("conversion_text", "measures", "difference_formats", "text", "markdown", "page")
]
SCRIPT = "".join((HERE / name).read_text("utf-8") for name in page.SCRIPTS)
TEMPLATE = (HERE / "page.html").read_text("utf-8")
MODULES += [Path(module.__file__) for module in (conversion, conversion_diff, progress, replacement_lines)]
NAMED = {*ACCEPTED.values(), *CAUSES.values(), *difference_formats.VERDICTS.values(), *SeverityCounts._fields}
NAMED |= {difference_formats.NEW, difference_formats.REMOVED, difference_formats.UNREAD, progress.JOBS}
NAMED |= {*get_args(ReferenceKind)}
NAMED |= {*page.ACCEPTED.values(), *page.STATES.values(), *page.SYMBOL_WORDS}
ENGLISH_LETTERS = re.compile(r"[A-Za-z]{4,}")
# Names of tools and commands, states and proofs.
NAMES = {"make", "test", "Rust", "clippy", "unsafe", "fast", "done", "none", "compared", *STATUSES}


@pytest.mark.parametrize("language", TABLES)
def test_every_text_has_a_translation_and_no_other(language: str) -> None:
    texts = {*NAMED, *(text for module in MODULES for text in said(module))}
    texts |= {*TRANSLATED_TEXT.findall(SCRIPT), *(found["text"] for found in STANDING.finditer(TEMPLATE))}
    counted = "".join(module.read_text("utf-8") for module in MODULES)
    nouns = {*COUNTED_NOUN.findall(SCRIPT), *re.findall(r"say\.count\([^\n]*?, [\"']([a-z]+)[\"']\)", counted)}

    assert len(texts) > 250
    assert sorted(texts ^ TABLES[language]["texts"].keys()) == []
    assert sorted(nouns ^ TABLES[language]["nouns"].keys()) == []


@pytest.mark.parametrize("language", TABLES)
def test_a_translation_has_the_same_placeholders(language: str) -> None:
    table = TABLES[language]
    for text, other in table["texts"].items():
        assert sorted(re.findall(r"\{(\w+)\}", text)) == sorted(re.findall(r"\{(\w+)\}", other)), text
    assert all(re.findall(r"\{(\w+)\}", other) == ["number"] for other in table["nouns"].values())


def function(name: str, **fields: object) -> FunctionResult:
    return FunctionResult(name, "a.c", 1, 9, "a", name, slot=name, **fields)  # type: ignore[arg-type]


def test_reports_and_differences_are_in_chinese() -> None:
    say = words_in_reports("zh")
    old = Conversion((function("f", state="mechanical", proof="compared"),))
    new = Conversion((function("f", state="translated", proof="compared", attempts=1), function("g", cause="refused")))
    new = Conversion(new.functions, suites=(SuiteResult("make test"),))
    run = {"id": "1", "kind": "fast", "state": "done", "cost": 0.0}
    sides = ConversionSides((run, run), (old, new), compare_conversions(old, new))
    texts = ["".join(render(new, run, say)) for render in (conversion_text, conversion_markdown)]
    texts += [
        "".join(render(sides, say)) for render in (difference_formats.write_text, difference_formats.write_markdown)
    ]

    assert "2 个函数中有 1 个 为 Rust; 其中 1 个由模型翻译; 1 个仍为 C：翻译器不支持" in texts[0]
    assert "## 函数\n\n| 函数 | 位置 | 状态 |" in texts[1]
    assert "变差: 0; 变好: 1;" in texts[2]
    assert {word for text in texts for word in ENGLISH_LETTERS.findall(text)} <= NAMES
