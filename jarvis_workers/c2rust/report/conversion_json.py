"""Render the report on a conversion to Rust as JSON: the reproducible results, and separately the measurements."""

import json
from typing import Any

from jarvis_workers.c2rust.conversion import Conversion, encode_conversion, failures


def conversion_json(conversion: Conversion, run: dict[str, Any]) -> str:
    """Return the report; `run` is the `run` part of reports, to which CPU seconds and numbers of calls are added."""
    body = json.loads(encode_conversion(conversion))
    measured = {
        "suites": [[suite.pop("c_seconds"), suite.pop("rust_seconds")] for suite in body["suites"]],
        "calls_compared": sum(function.pop("calls") for function in body["functions"]),
        "gate_seconds": round(
            sum(gate.pop() for one in body["functions"] for gate in one["gates"])
            + sum(gate.pop() for gate in body["crate"]),
            3,
        ),
        "clippy_warnings": body.pop("clippy"),
    }
    report = {"run": {**run, "measured": measured}, "conversion": {"failures": failures(conversion), **body}}
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
