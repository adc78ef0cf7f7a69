"""Reports of c2rust in Chinese: every text has a translation that fits."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from jarvis_cli.kit import progress
from jarvis_workers import words
from jarvis_workers.c2rust import conversion, replacement_lines, report
from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, SuiteResult, compare_conversions
from jarvis_workers.c2rust.function_map import STATUSES
from jarvis_workers.c2rust.mechanical.refusals import REFUSALS
from jarvis_workers.c2rust.report import difference_formats, measures, page
from jarvis_workers.c2rust.report.conversion_text import ACCEPTED, CAUSES, conversion_markdown, conversion_text
from jarvis_workers.c2rust.report.difference_formats import ConversionSides
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.rule_counts import SeverityCounts
from jarvis_workers.c2rust.runs import conversion_diff
from jarvis_workers.source.clang.unit import ReferenceKind
from jarvis_workers.words import COUNTED_NOUN, STANDING, TRANSLATED, TRANSLATED_TEXT
from tests.support.texts import literals, said

HERE = Path(report.__file__).parent
TABLES = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in TRANSLATED}
MODULES = [
    HERE / f"{name}.py" for name in ("conversion_text", "measures", "difference_formats", "text", "markdown", "page")
]
SCRIPT = "".join((HERE / name).read_text("utf-8") for name in page.SCRIPTS)
TEMPLATE = (HERE / "page.html").read_text("utf-8")
MODULES += [Path(module.__file__) for module in (conversion, conversion_diff, progress, replacement_lines, words)]
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
    nouns = {
        *measures.NOUNS.values(),
        *COUNTED_NOUN.findall(SCRIPT),
        *re.findall(r"say\.count\([^\n]*?, [\"']([a-z]+)[\"']\)", counted),
    }

    assert len(texts) > 250
    assert sorted(texts ^ TABLES[language]["texts"].keys()) == []
    assert sorted(nouns ^ TABLES[language]["nouns"].keys()) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", TABLES)
def test_stored_lines_have_the_texts_of_the_modules_that_write_them(language: str) -> None:
    packages = [HERE.parent, *(HERE.parent / name for name in ("stages", "runs"))]
    written = [text for package in packages for module in package.glob("*.py") for text in literals(module)]
    written += (one.meaning for one in REFUSALS.values())
    for line in TABLES[language]["lines"]:
        for part in re.split(r"\{\w+\}", line):
            words = part.strip(" :;,")
            assert words.count(" ") < 2 or any(words in text for text in written), words


@pytest.mark.parametrize("language", TABLES)
def test_a_translation_has_the_same_placeholders(language: str) -> None:
    table = TABLES[language]
    for text, other in (*table["texts"].items(), *table["lines"].items()):
        assert sorted(re.findall(r"\{(\w+)\}", text)) == sorted(re.findall(r"\{(\w+)\}", other)), text
    assert all(re.findall(r"\{(\w+)\}", other) == ["number"] for other in table["nouns"].values())


def function(name: str, **fields: object) -> FunctionResult:
    return FunctionResult(name, "a.c", 1, 9, "a", name, slot=name, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "translation"),
    [
        ("no test reaches it", "没有测试到达它"),
        ("inputs: a call differs from C", "inputs：有一次调用与 C 不同"),
        (
            "crate_plan.yaml: enums: color cannot be bits; possible: enum, flags",
            "crate_plan.yaml：enums：color 不能是 bits；可以是：enum, flags",
        ),
        (
            "the planned signature of f is not used: it has no parameter return",
            "没有采用 f 的计划签名：它没有参数 return",
        ),
        (
            "the signature of f is not changed: it is as requested already; the model asked for it: speed",
            "f 的签名未更改：它已与要求相同；模型要求更改的原因：speed",
        ),
        ("Rust has no complex numbers (line 3: complex)", "Rust 没有复数（第 3 行：complex）"),
        ("E0308 mismatched types", "E0308 mismatched types"),
        ("no test reaches it" + "!" * 9000, "no test reaches it" + "!" * 9000),
        ("the gates did not run: {0}\n%s", "检查没有运行：{0}\n%s"),
        ("", ""),
    ],
)
def test_stored_lines_and_the_lines_in_them_are_translated(line: str, translation: str) -> None:
    assert words_in_reports("zh").line(line) == translation
    assert words_in_reports("en").line(line) == line


def test_warnings_and_reasons_are_in_chinese() -> None:
    say = words_in_reports("zh")
    functions = (
        function("f", cause="not_checked", reason="no test reaches it"),
        function("g", state="mechanical", not_translated="its job failed"),
    )
    warnings = ("the tests fail with the planned signatures of f", "from elsewhere")
    gates = GateOutcome("C interface", True, "3 symbols"), GateOutcome("tests with the crate", False, "make: 1 fails")
    one = Conversion(
        functions, warnings=warnings, crate=gates, not_checked=(("a.c", "not reached before the run ended"),)
    )
    run = {"id": "1", "kind": "fast", "state": "done", "cost": 0.0}
    for render in (conversion_text, conversion_markdown):
        text = "".join(render(one, run, say))
        assert "C 接口: 3 个符号" in text and "使用 crate 的测试 未通过：make: 1 fails" in text
        for translation in ("没有测试到达它", "它的任务失败", "采用 f 的计划签名时，测试未通过", "from elsewhere"):
            assert translation in text
        assert "运行结束前没有到达" in text
        assert "no test reaches it" in "".join(render(one, run))


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
