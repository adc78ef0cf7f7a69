"""The JSON schema of the JSON report, derived from the types of its values so that it cannot become outdated.

Findings and summary are strict: a field that is not listed is never written.  The part `run` may have further fields,
which depend on the kind of run.
"""

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from jarvis_workers.sec.assessment import REPORTED, Verdict
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.verdicts import EXPOSURES
from jarvis_workers.sec.report_document import BaselineSummary, Issue, Summary
from jarvis_workers.sec.report_json import BASE, COUNTED, PROOF, VERDICT
from jarvis_workers.sec.severity import SEVERITIES

Part = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE: Mapping[object, Part] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}
CHOICES = {
    "severity": SEVERITIES,
    "status": ("proved", "confirmed", "review", "undecided", "heuristic", "dismissed"),
    "language": ("c/cpp", "rust"),
    "exposure": (*EXPOSURES, ""),
    "verdict_severity": (*SEVERITIES, ""),
}
RUN = {
    "id": {"type": "string"},
    "kind": {"type": "string"},
    "state": {"type": "string"},
    "scanned_root": {"type": "string"},
    "path_prefix": {"type": "string"},
    "snapshot": {"type": "string"},
    "version": {"type": "string"},
    "created_at": {"type": ["string", "null"], "format": "date-time"},
    "ended_at": {"type": ["string", "null"], "format": "date-time"},
    "seconds": {"type": ["number", "null"]},
    "stages": {"type": "object"},
}


def report_schema() -> Part:
    """Return the schema of {"run": ..., "summary": ..., "issues": [...]}, with further lists if they are not empty."""
    issues = {"type": "array", "items": {"$ref": "#/$defs/issue"}}
    return {
        "$schema": DIALECT,
        "title": "JSON report of Jarvis Workers",
        "type": "object",
        "required": ["run", "summary", "issues"],
        "additionalProperties": False,
        "properties": {
            "run": {"type": "object", "required": list(RUN), "properties": RUN},
            "summary": _summary(),
            "issues": issues,
            "dismissed": issues,
            "suppressed": issues,
        },
        "$defs": {"issue": _issue()},
    }


def _issue() -> Part:
    names = [*BASE, "path", "suppression", "judged", "test_code", "proof", "also_reported", "witnesses", *VERDICT]
    of_verdict = get_type_hints(Verdict)
    hints = get_type_hints(Candidate) | get_type_hints(Issue) | {"proof": Proof}
    hints |= {name: of_verdict[field] for name, field in REPORTED.items()}
    written = _object(hints, names, set(BASE) - {"column", "root_cause"})
    for name, choices in CHOICES.items():
        written["properties"][name] = {"enum": list(choices)}
    return written


def _summary() -> Part:
    names, hints = [name for name in Summary._fields if name != "extra"], get_type_hints(Summary)
    absent = {name for name in names if NoneType in get_args(hints[name])}
    written = _object(hints, names, set(names) - absent - COUNTED)
    # The facts about a baseline are written beside its numbers.
    facts = {name: SIMPLE[int] for name in BaselineSummary._fields if name != "facts"}
    written["properties"]["baseline"] = {"type": "object", "required": ["known"], "properties": facts}
    return written


def _object(hints: Mapping[str, Any], names: Sequence[str], required: set[str]) -> Part:
    return {
        "type": "object",
        "required": [name for name in names if name in required],
        "additionalProperties": False,
        "properties": {name: _schema(hints[name]) for name in names},
    }


def _schema(hint: Any) -> Part:
    if hint in SIMPLE:
        return dict(SIMPLE[hint])
    if hasattr(hint, "_fields"):
        names = PROOF if hint is Proof else hint._fields
        return _object(get_type_hints(hint), names, set(names) - set(hint._field_defaults))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return dict(SIMPLE[str])
    if origin in (UnionType, Union):
        return {"anyOf": [_schema(one) for one in arguments]}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    return {"type": "array", "items": _schema(arguments[0])}
