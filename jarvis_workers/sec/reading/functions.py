"""The metrics of the functions of a C or C++ file: of all, not only of those that the data-flow analysis selects."""

from jarvis_workers.dataflow import is_cpp
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.sec.reading.function_metrics import FunctionMetrics, metrics_of
from jarvis_workers.sec.scanner import source_text
from jarvis_workers.source.grammar_files import base_language, c_text
from jarvis_workers.source.languages import is_header, language_of
from jarvis_workers.source.lex import mask

LANGUAGE = "c/cpp"


def functions_of(content: bytes, path: str) -> list[FunctionMetrics]:
    """Return the metrics of a file, in its order; none of a file in another language."""
    raw = path.encode("utf-8", "surrogateescape")
    language = language_of(raw) or ""
    if base_language(language) != LANGUAGE:
        return []
    text = source_text(content, language)
    masked, header = mask(text, language).text, is_header(raw)
    lowered = model(c_text(text, language), masked, lambda *_: True, header=header, language=language, cpp=is_cpp(path))
    return list(metrics_of(lowered))
