"""Reports in another language: every text has a translation that fits, and nothing else is translated."""

import json
import re
from itertools import product
from pathlib import Path

import pytest

from jarvis_workers import words
from jarvis_workers.depth import RULES_ONLY
from jarvis_workers.sec import report
from jarvis_workers.sec.report.advice import ADVICE, ALWAYS
from jarvis_workers.sec.report.exclusions import no_findings
from jarvis_workers.sec.report.fired_rules import DESCRIPTION, FUZZED, SUGGESTION
from jarvis_workers.sec.report.html import card, exclusion_sections, render_html
from jarvis_workers.sec.report.markdown import render_markdown
from jarvis_workers.sec.report.scope_notes import ALTERED, NARROWED
from jarvis_workers.sec.report.stage_parts import PARTS
from jarvis_workers.sec.report.text import ASIDE, REMARKS
from jarvis_workers.sec.report.verdicts import EXPOSURES, MEANS, PROOF_KINDS, PROOF_STATES, TEXT_TITLES, WORDS
from jarvis_workers.sec.report_document import BaselineSummary, Summary
from jarvis_workers.words import STANDING, TRANSLATED, TRANSLATED_TEXT
from tests.sec.verdicts import EVERY, RUN, judged_body
from tests.support.browser import browser
from tests.support.texts import said

HERE = Path(report.__file__).parent
TABLES = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in TRANSLATED}
MODULES = sorted(HERE.glob("**/*.py"))
MODULES += [Path(words.__file__)]
SUMMARIES = (
    Summary(),
    Summary(baseline=BaselineSummary(0, 0, {})),
    Summary(suppressed=1),
    Summary(below_min_confidence=1),
)
RUNS: tuple[dict[str, object], ...] = ({}, {"narrowed": ["rules.disable"]})
NAMED = [
    *WORDS.values(),
    *MEANS.values(),
    *TEXT_TITLES.values(),
    *EXPOSURES.values(),
    *ADVICE.values(),
    *ALWAYS,
    *card.MARKED.values(),
]
NAMED += [*PROOF_STATES.values(), *PROOF_KINDS.values()]
NAMED += [*exclusion_sections.REMARKS.values(), *ASIDE.values(), *REMARKS.values()]
NAMED += [said for facts, run in product(SUMMARIES, RUNS) for said in no_findings(facts, run)] + [NARROWED, ALTERED]
NAMED += [DESCRIPTION, FUZZED, SUGGESTION]
NAMED += [text for part in PARTS if part.lists for text in (part.title, *(one.title for one in part.lists))]
NAMED += ["high", "medium", "low", "heuristic", "review", "Code", "Question", "Reason for review"]
NAMED += ["Confidence", "Score", "Category", "Weakness", "Status", "Cluster", "Finding", "Fingerprint", "Root cause"]
NAMED += ["findings", "score", "listed findings", "listed score", "Triage", "Source", *card.TRIAGE.values(), RULES_ONLY]


@pytest.fixture(scope="module")
def page():
    with browser() as running:
        yield running


def nouns() -> set[str]:
    found = "".join(module.read_text("utf-8") for module in MODULES)
    return {
        "tree",
        *(one.noun for part in PARTS for one in part.lists),
        *re.findall(r'say\.count\([^\n]*?, "([a-z ]+)"\)', found),
    }


def every_text() -> set[str]:
    page = {found["text"] for found in STANDING.finditer((HERE / "html" / "report.html").read_text("utf-8"))}
    script = set(TRANSLATED_TEXT.findall((HERE / "html" / "report.js").read_text("utf-8")))
    return {*NAMED, *page, *script, *(text for module in MODULES for text in said(module))}


@pytest.mark.parametrize("language", TABLES)
def test_every_text_has_a_translation_and_no_other(language):
    assert len(every_text()) > 200
    assert sorted(every_text() ^ TABLES[language]["texts"].keys()) == []
    assert nouns() == TABLES[language]["nouns"].keys()


@pytest.mark.parametrize("language", TABLES)
@pytest.mark.parametrize("inside", [r"\{(\w+)\}", r"<[^>]+>", r"`[^`]*`", r"\A(?:#+ |> |- |\*\*)"])
def test_a_translation_has_the_same_places_tags_and_code(language, inside):
    table = TABLES[language]
    for text, other in table["texts"].items():
        assert sorted(re.findall(inside, text)) == sorted(re.findall(inside, other)), text
    assert all(re.findall(r"\{(\w+)\}", other) == ["number"] for other in table["nouns"].values())


def test_a_report_in_chinese_says_the_same_of_the_same_findings():
    body = judged_body(*EVERY, not_checked=[("x.c", "too large")])
    english, chinese = ("".join(render_markdown(body, RUN | {"lang": lang})) for lang in ("en", "zh"))

    assert chinese.startswith("# 安全报告\n\n**3 个文件中：2 个已确认的问题，1 个待复核，2 个未定论。**")
    assert "未定论：2 个问题。" in chinese
    assert "没有结论，这并不等于安全。" in chinese
    assert "，CWE-676" in chinese
    assert ", CWE" not in chinese
    for same in ("`strcpy(d, s);`", "The stack is overwritten.", "Copies without a bound.", "too large", "C3795a7"):
        assert english.count(same) == chinese.count(same) > 0
    assert english.count("\n") == chinese.count("\n")


@pytest.mark.slow
@pytest.mark.timing
def test_a_page_in_chinese_is_built_alike_by_its_script(page, tmp_path):
    text = "".join(render_html(judged_body(*EVERY), RUN | {"lang": "zh"}))
    (tmp_path / "r.html").write_text(text)
    page.open(tmp_path / "r.html")
    page.ask("document.querySelectorAll('#list details').forEach(one => one.open = true)")
    page.wait_for("document.querySelectorAll('#list .inside').length === 5")
    page.ask("document.querySelectorAll('.copy').forEach(one => one.remove())")
    words = "[...document.querySelectorAll('#list .finding')].map(one => one.textContent.replace(/\\s+/g, ''))"
    built = page.ask(words)

    assert page.complaints == []
    assert page.ask("document.title") == "安全报告：redis"
    assert page.ask("document.documentElement.lang") == "zh-CN"
    assert page.ask("document.getElementById('count').textContent") == "列出 5 个"
    assert page.ask("[...document.querySelectorAll('#views button')].map(one => one.textContent)") == [
        "列表",
        "按文件",
        "按聚类",
        "按结论",
    ]
    (tmp_path / "r.html").write_text(re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL))
    page.open(tmp_path / "r.html")
    assert page.ask(words) == built


@pytest.mark.slow
@pytest.mark.parametrize("render", [render_markdown, render_html])
def test_a_language_that_is_not_known_is_english(render):
    assert "Security report" in "".join(render(judged_body(*EVERY), RUN | {"lang": "../zh"}))
