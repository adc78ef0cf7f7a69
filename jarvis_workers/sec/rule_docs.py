"""Documentation of rules, as data for programs and as a Markdown page."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from jarvis_workers.sec.finding import CATEGORY_ORDER, severity_of
from jarvis_workers.sec.report.i18n import ENGLISH, Words
from jarvis_workers.sec.rules import Rule

LANGUAGES = {"c/cpp": "C and C++", "rust": "Rust"}
HEAD = """\
# Rules

Each rule has a row here and an explanation below; `jarvis sec explain ID` says the same in a terminal. A finding's
confidence begins at that of its rule, and the code around moves it; from 0.8 on its severity is high, from 0.6 on
medium. How to switch rules off, and to write some of your own: [own-rules.md](own-rules.md).

This page is written by `jarvis sec rules --format markdown`.
"""
FENCES = re.compile(r"`+")


def about(rule: Rule) -> dict[str, Any]:
    """Return the JSON form of a rule."""
    return {
        "id": rule.pattern,
        "title": rule.title,
        "language": rule.language,
        "category": rule.category,
        "cwe": rule.cwe,
        "confidence": rule.confidence,
        "severity": severity_of(rule.confidence),
        "description": rule.description,
        "verification": rule.verification,
        "suggestion": rule.suggestion,
        "bad": rule.bad,
        "good": rule.good,
    }


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """Sort by language, then by category in the order of reports, then by id."""
    return sorted(rules, key=lambda rule: (rule.language, _place(rule.category), rule.category, rule.pattern))


def weakness_link(rule: Rule) -> str:
    """Return the address of the CWE description."""
    return f"https://cwe.mitre.org/data/definitions/{rule.cwe}.html"


def as_markdown(rules: Iterable[Rule], say: Words = ENGLISH) -> str:
    """Return a page about the rules: a table for each language, then a section for each rule."""
    ordered = in_order(rules)
    sections = (line for rule in ordered for line in _section(rule, say))
    return "\n".join([say(HEAD), *_tables(ordered, say), say("## Rule reference") + "\n", *sections]).rstrip() + "\n"


def _place(category: str) -> int:
    return CATEGORY_ORDER.index(category) if category in CATEGORY_ORDER else len(CATEGORY_ORDER)


def _tables(rules: list[Rule], say: Words) -> Iterator[str]:
    for language, group in groupby(rules, key=lambda rule: rule.language):
        yield f"## {say(LANGUAGES.get(language, language))}\n"
        yield say("| rule | category | CWE | confidence | what |") + "\n| --- | --- | --- | ---: | --- |"
        for rule in group:
            link = f"[CWE-{rule.cwe}]({weakness_link(rule)})"
            name = f"[`{rule.pattern}`](#{rule.pattern})"
            yield f"| {name} | {rule.category} | {link} | {rule.confidence:.2f} | {_cell(rule.title)} |"
        yield ""


def _section(rule: Rule, say: Words) -> Iterator[str]:
    yield f"### {rule.pattern}\n"
    yield say("{title}. {text}", title=_sentence(rule), text=rule.description) + "\n"
    if rule.verification:
        yield f"- {say('**True positive if:**')} {rule.verification}"
    yield f"- {say('**Fix:**')} {rule.suggestion}\n"
    for head, code in ((say("Bad:"), rule.bad), (say("Good:"), rule.good)):
        if code:
            fence = "`" * max(3, 1 + max(map(len, FENCES.findall(code)), default=0))
            yield f"{head}\n\n{fence}{'rust' if rule.language == 'rust' else 'c'}\n{code.strip()}\n{fence}\n"


def _sentence(rule: Rule) -> str:
    """Capitalize the title, unless it begins with the name of a C function."""
    first, rest = rule.title[:1], rule.title[1:].rstrip(".")
    named = rule.title.partition(" ")[0].partition("/")[0] in (*rule.calls, *rule.words)
    return f"{first if named else first.upper()}{rest}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
