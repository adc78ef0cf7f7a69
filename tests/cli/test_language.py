"""What a user reads in Chinese: rules, and the report of a scan; chosen by a flag, else by the locale."""

import json
import re
from pathlib import Path

import pytest

import jarvis_cli
from jarvis_cli.kit.language import language_of
from jarvis_workers.c2rust.commands import conversion_map_view
from jarvis_workers.sec import rule_docs
from jarvis_workers.sec.commands import explain
from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.severity import HARMS, SEVERITIES
from tests.cli.commands import COPY, SYSTEM
from tests.support.texts import said

TABLE = json.loads((Path(jarvis_cli.__file__).parent / "zh.json").read_text("utf-8"))
NAMED = {rule_docs.HEAD, rule_docs.SEVERITY, *rule_docs.LANGUAGES.values(), *conversion_map_view.HEAD}
NAMED |= {*HARMS, *SEVERITIES}
CHINESE = re.compile("[\u4e00-\u9fff]")
OWN = """\
rules:
  - {id: own_log, language: c/cpp, category: input_validation, cwe: 117, confidence: 0.7, calls: [old_log],
     message: Writes text to the log., suggestion: Use log_write.}
"""


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "C"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "C", "LC_MESSAGES": "en_US.UTF-8", "LC_ALL": "zh_CN"}, "zh"),
        ({"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_language_is_that_of_the_locale_unless_one_is_asked_for(environ, language):
    assert language_of(None, environ) == language
    assert (language_of("en", environ), language_of("zh", environ)) == ("en", "zh")


def test_every_text_about_rules_has_a_translation_and_no_other():
    texts = {text for module in (conversion_map_view, explain, rule_docs) for text in said(Path(module.__file__))}

    assert len(texts) > 15
    assert sorted((texts | NAMED) ^ TABLE["texts"].keys()) == []
    for text, other in TABLE["texts"].items():
        for inside in (r"\{\w+\}", r"`[^`]*`", r"\]\([^)]*\)", r"\A[#|*]*"):
            assert re.findall(inside, text) == re.findall(inside, other)


def test_a_rule_is_explained_in_chinese(jarvis, monkeypatch):
    (jarvis.place / "jarvis.yaml").write_text("rules: {severity: {unsafe_api: low}}")
    chinese = jarvis("sec", "explain", "unsafe_api", "--lang", "zh").out

    labels = [line.split()[0] for line in chinese.splitlines() if line and not line.startswith(" ")]
    assert labels[1:8] == ["含义", "成立条件", "修复建议", "CWE", "语言", "严重度", "匹配对象"]
    assert "写入缓冲区却不知道其大小：源比目标长就会溢出。" in chinese
    assert "低；置信度 0.65（未结合上下文），由您的设置指定" in chinese
    assert 'snprintf(name, sizeof name, "%s", argv[1]);' in chinese
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert jarvis("sec", "explain", "unsafe_api").out == chinese
    assert not CHINESE.search(jarvis("sec", "explain", "unsafe_api", "--lang", "en").out)


def test_the_rules_are_listed_in_chinese_in_every_form(jarvis):
    (jarvis.place / "jarvis.yaml").write_text("rules: {disable: [unsafe], paths: [own.yaml]}")
    (jarvis.place / "own.yaml").write_text(OWN)
    table, page, rows = (
        jarvis("sec", "rules", "--lang", "zh", "--format", form).out for form in ("table", "markdown", "json")
    )

    lines = {line.split()[0]: line for line in table.splitlines()}
    assert lines["unsafe"].endswith("unsafe 代码 (已关闭)")
    assert lines.pop("own_log").endswith("Writes text to the log")
    assert sum(bool(CHINESE.search(line)) for line in lines.values()) == len(RULES)
    assert page.startswith("# 规则\n")
    assert "\n## C 和 C++\n\n| 规则 | 类别 | CWE | 置信度 | 含义 |\n| --- |" in page
    assert "\n### unsafe\n\nunsafe 代码。内存安全全靠这段代码自身" in page
    (row,) = [row for row in json.loads(rows) if row["id"] == "unsafe"]
    assert row["verification"] == "该代码块所依赖的前提并非对每个调用者都成立。"


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("command", ["fast", "agent"])
def test_a_report_without_a_model_is_in_the_language_of_its_submit(jarvis, monkeypatch, command):
    jarvis.tree("src", {"a.c": COPY + SYSTEM + "void h(char *s) { old_log(s); }\n", ".jarvis/rules/own.yaml": OWN})
    scan = ("sec", command, "-p", "src", "-q", "--project-rules")
    english = json.loads(jarvis(*scan, "--format", "json").out)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    chinese = json.loads(jarvis(*scan, "--format", "json").out)
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")

    texts = {"description", "suggestion"}
    for one, other in zip(english["issues"], chinese["issues"], strict=True):
        assert {name for name in one if one[name] != other[name]} == (texts if one["pattern"] != "own_log" else set())
    assert ("lang" in english["run"], chinese["run"]["lang"]) == (False, "zh")
    assert english["summary"] == chinese["summary"]
    for form, start in (("markdown", "# 安全报告"), ("html", '<!doctype html>\n<html lang="zh-CN">')):
        report = jarvis("runs", "report", "last", "--format", form).out
        assert report.startswith(start)
        assert "源比目标长就会溢出" in report
        assert "Writes text to the log." in report
        assert "Writes to a buffer" not in report
    for form in ("sarif", "junit"):
        assert not CHINESE.search(jarvis("runs", "report", "last", "--format", form).out)


def test_another_language_is_refused(jarvis):
    sec = (["fast", "-p", "."], ["agent", "-p", "."], ["rules"], ["explain", "unsafe"])
    for command in (*(["sec", *words] for words in sec), ["c2rust", "fast"], ["c2rust", "run"], ["c2rust", "map"]):
        ended = jarvis(*command, "--lang", "fr")
        assert ended.code == 2
        assert '--lang: "fr" is not one of en, zh' in ended.line
