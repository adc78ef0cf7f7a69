"""Translators of reports; the texts in other languages are in files of this package, such as zh.json."""

from dataclasses import replace

from jarvis_workers.c2rust.conversion import Conversion
from jarvis_workers.words import ENGLISH, Words, words_in

english = ENGLISH


def words_in_reports(language: str) -> Words:
    """Return the translator of the reports of c2rust into a language."""
    return words_in(language, __package__)


def with_lines_in(say: Words, conversion: Conversion) -> Conversion:
    """Return a conversion with its lines in the language of a report: warnings, reasons and checks of the crate."""
    functions = (
        replace(one, reason=say.line(one.reason), not_translated=say.line(one.not_translated))
        for one in conversion.functions
    )
    gates = (one._replace(gate=say.line(one.gate), detail=say.line(one.detail)) for one in conversion.crate)
    gaps = tuple((file, say.line(reason)) for file, reason in conversion.not_checked)
    warnings = tuple(map(say.line, conversion.warnings))
    return replace(conversion, functions=tuple(functions), crate=tuple(gates), not_checked=gaps, warnings=warnings)
