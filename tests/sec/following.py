"""Run the flow engine over a few files as a run does: summarize each, store the models, look up exports."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jarvis_workers.dataflow import FlowHit, Lookup, analyze, summarize
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.source.encoding import as_utf8
from jarvis_workers.source.languages import is_header, language_of

__all__ = ["follow", "look_nowhere", "model_of", "stored", "tell"]


def look_nowhere(_: str, /, *, near: str | None = None) -> Sequence[tuple[str, Any]]:
    return ()


def model_of(content: bytes, name: str = "a.c") -> dict[str, Any] | None:
    """Return the model of a file built by `summarize`."""
    known = name.encode()
    language = language_of(known) or "c/cpp"
    return summarize(as_utf8(content), language=language, header=is_header(known), test=False, path=name)


def stored(model: dict[str, Any]) -> dict[str, Any]:
    """Return a model after encoding and decoding."""
    again: dict[str, Any] = json.loads(json.dumps(model))
    return again


def follow(
    files: Mapping[str, bytes], through: Callable[[dict[str, Any]], dict[str, Any]] = stored
) -> dict[str, list[FlowHit]]:
    """Return the hits of each file; models are passed to `through` before they are used."""
    models = {name: model_of(content, name) for name, content in sorted(files.items())}
    kept = {name: through(model) for name, model in models.items() if model is not None}
    return {
        name: [hit for hit in analyze(model, _others(kept, name), test=False)[0] if hit.pattern not in HARMLESS]
        for name, model in kept.items()
    }


def _others(models: Mapping[str, dict[str, Any]], asking: str) -> Lookup:
    def lookup(name: str, /, *, near: str | None = None) -> list[tuple[str, Any]]:
        return [
            (path, one["exports"][name]) for path, one in models.items() if path != asking and name in one["exports"]
        ]

    return lookup


def tell(content: bytes, name: str = "a.c") -> list[FlowHit]:
    """Return the hits of a single file."""
    return follow({name: content}).get(name, [])
