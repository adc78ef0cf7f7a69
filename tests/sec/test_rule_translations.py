"""The rules in another language: every text of every rule has one, and nothing else is put in another language."""

import json
import re
from importlib.resources import files

import pytest

from jarvis_workers.sec import rules
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.sec.translations import report_in, rule_in
from jarvis_workers.words import TRANSLATED
from tests.sec.verdicts import COPY, EVERY, RISK, judged_body

TEXTS = {"title", "description", "suggestion", "verification"}
TABLES = {name: json.loads(files(rules).joinpath(f"{name}.json").read_text("utf-8")) for name in TRANSLATED}
# Formats, calls, names of C, constants, modes of files, and whatever is marked or quoted as code.
CODE = re.compile(
    r'`[^`]*`|"[^"]*"|%\[?\w*|\w+\([^)]*\)|\w+_\w+|\w+\[\]|\b[A-Z][A-Z0-9]+(?:-[0-9A-Z]+)*\b|\b0\d{3}\b', re.ASCII
)
CHINESE = re.compile("[\u4e00-\u9fff]")
ENGLISH_MARKS = re.compile(r"[\u4e00-\u9fff][,;:.?]|[,;:.?][\u4e00-\u9fff]")
UNSAFE_API = RULES_BY_PATTERN["unsafe_api"]
OWN = {
    "id": "own_log",
    "language": "c/cpp",
    "category": "input_validation",
    "cwe": 117,
    "confidence": 0.7,
    "calls": ["old_log"],
    "message": "Writes what callers say to the log.",
    "suggestion": "Use log_write.",
}


@pytest.mark.parametrize("language", TABLES)
def test_every_rule_has_all_its_texts_and_no_other_has_any(language):
    assert sorted(TABLES[language].keys() ^ RULES_BY_PATTERN.keys()) == []
    assert [name for name, texts in TABLES[language].items() if texts.keys() != TEXTS] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_a_text_in_chinese_keeps_its_code_and_ends_as_the_english_one(rule):
    for name, text in TABLES["zh"][rule.pattern].items():
        english = getattr(rule, name)
        assert CHINESE.search(text)
        assert sorted(CODE.findall(text)) == sorted(CODE.findall(english))
        assert ENGLISH_MARKS.findall(text) == []
        assert text[-1] == {".": "。", "?": "？"}[english[-1]] if name != "title" else text[-1] not in "。？"


def test_a_rule_differs_in_nothing_but_its_texts():
    for rule in RULES:
        other = rule_in("zh", rule)

        assert {name: getattr(other, name) for name in TEXTS} == TABLES["zh"][rule.pattern]
        assert other._replace(**{name: getattr(rule, name) for name in TEXTS}) == rule


@pytest.mark.parametrize("language", ["en", "fr", "../zh"])
def test_without_texts_in_a_language_all_stays_english(language):
    body = judged_body(*EVERY)

    assert rule_in(language, UNSAFE_API) == UNSAFE_API
    assert report_in(language, body) is body


def test_a_rule_of_a_projects_own_says_what_its_file_says():
    own = custom_rule(OWN)

    assert rule_in("zh", own) == own


def test_findings_say_the_texts_of_their_rule_and_stay_what_they_are():
    texts = {name: getattr(UNSAFE_API, name) for name in ("description", "suggestion")}
    said = COPY._replace(**texts), RISK | {"verification": UNSAFE_API.verification}
    body = judged_body(said, *EVERY)

    other = report_in("zh", body)

    changed = {
        (one.gid, name): said
        for one, told in zip(body.findings, other.findings, strict=True)
        for name, said in {**told._asdict(), **told.candidate._asdict()}.items()
        if name != "candidate" and said != getattr(one if name in one._fields else one.candidate, name)
    }
    chinese = TABLES["zh"]["unsafe_api"]
    assert {name: text for (_, name), text in changed.items()} == {
        name: chinese[name] for name in ("description", "suggestion", "verification")
    }
    assert len({gid for gid, _ in changed}) == 1
    assert other.summary == body.summary
