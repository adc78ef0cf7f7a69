"""Fuzz targets: each one accepts any bytes, and raises if a property is violated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_workers.dataflow import analyze, summarize
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.functions import Function, functions
from jarvis_workers.source.lex import comments, compiler_newlines, mask

__all__ = ["CORPUS", "TARGETS", "Target"]

Target = Callable[[bytes], None]
CORPUS = Path(__file__).parent.parent / "data"
LANGUAGES = ("c/cpp", "rust")
SCANNER = Scanner("re")


def lexer(content: bytes) -> None:
    for language in LANGUAGES:
        text, end = mask(content, language)
        assert len(text) == len(content)
        assert [len(line) for line in text.split(b"\n")] == [len(line) for line in content.split(b"\n")]
        assert 0 <= end <= len(content)
        assert all(0 <= start <= stop <= len(content) for start, stop in comments(content, language))
        for one in functions(text, language):
            assert 0 <= one.start <= one.body[0] <= one.body[1] <= len(text)
            assert 0 <= one.parameters[0] <= one.parameters[1] <= len(text)


def function_model(content: bytes) -> None:
    def everything(_: Function, __: bytes) -> bool:
        return True

    made = model(content, mask(content, "c/cpp").text, everything, header=content[:1] == b"\n")
    assert json.loads(json.dumps(made)) == made
    lines = content.count(b"\n") + 1
    assert all(1 <= one["line"] <= one["end"] <= lines for one in made["functions"])


def rules(content: bytes) -> None:
    for language in LANGUAGES:
        lines = compiler_newlines(as_utf8(content), language).count(b"\n") + 1
        for hit in SCANNER.scan(content, language=language).hits:
            assert 1 <= hit.line <= lines
            assert 0.4 <= hit.confidence <= 0.95
            assert "\n" not in hit.evidence


def flow(content: bytes) -> None:
    plain = as_utf8(content)
    made = summarize(plain, language="c/cpp", header=False, test=False, path="a.c")
    if made is None:
        return
    read = json.loads(json.dumps(made))
    assert read == made
    exports: dict[str, Any] = json.loads(json.dumps(made["exports"]))
    hits, _ = analyze(read, lambda name: [("b.c", exports[name])] if name in exports else [], test=False)
    lines = plain.count(b"\n") + 1
    assert all(1 <= hit.line <= lines for hit in hits)


TARGETS: dict[str, Target] = {"lexer": lexer, "model": function_model, "rules": rules, "flow": flow}
