"""Run a project's own taint rules over a few files, as a run does."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.dataflow import FlowHit, analyze, summarize
from jarvis_workers.dataflow.calls.taint_rules import names_in, taint_rule
from tests.sec.following import stored

ROW: Mapping[str, Any] = {
    "id": "own",
    "confidence": 0.8,
    "sources": [{"pattern": "get_param(...)"}],
    "sinks": [{"pattern": "run_query($DB, $SQL)", "focus": "$SQL"}],
}


def own_hits(files: Mapping[str, str], *, test: bool = False, **changes: Any) -> dict[str, list[FlowHit]]:
    """Return the hits of a rule in each file; `changes` are those of ROW."""
    rule = taint_rule({**ROW, **changes})
    names = names_in([rule])
    made = {
        name: summarize(code.encode(), language="c/cpp", header=name.endswith(".h"), test=test, path=name, names=names)
        for name, code in files.items()
    }
    models = {name: stored(model) for name, model in made.items() if model is not None}

    def hits(name: str) -> list[FlowHit]:
        def lookup(what: str, /, *, near: str | None = None) -> list[tuple[str, Any]]:
            others = ((path, model["exports"]) for path, model in models.items() if path != name)
            return [(path, exports[what]) for path, exports in others if what in exports]

        return [hit for hit in analyze(models[name], lookup, test=test, rules=[rule])[0] if hit.pattern == rule.id]

    return {name: hits(name) for name in models}
