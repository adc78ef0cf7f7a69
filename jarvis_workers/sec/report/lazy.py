"""Renderers imported on first call, because scanning child processes build report bodies but render nothing."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from jarvis_workers.sec.report_document import ReportBody


class LazyRenderer:
    """The function `render_FORMAT` of the module FORMAT of this package, called with its arguments."""

    def __init__(self, form: str) -> None:
        self._form = form.replace("-", "_")

    def __call__(self, body: ReportBody, run: Mapping[str, Any], **options: Any) -> Iterator[str]:
        module = import_module(f"jarvis_workers.sec.report.{self._form}")
        pieces: Iterator[str] = getattr(module, f"render_{self._form}")(body, run, **options)
        return pieces
