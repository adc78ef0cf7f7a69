"""The report of a scan in Chinese; chosen by a flag, else by the locale."""

import json
import re

import pytest

from jarvis_cli.language import language_of
from tests.cli.commands import COPY, SYSTEM

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
    for command in (["fast", "-p", "."], ["agent", "-p", "."]):
        ended = jarvis("sec", *command, "--lang", "fr")
        assert ended.code == 2
        assert "'fr' is not one of 'en', 'zh'" in ended.line
