"""Install a package with rules for a test: a module and its entry point, in a directory that is added to the path."""

from collections.abc import Callable
from pathlib import Path

CODE = """\
from jarvis_workers.sec.rules import Rule

RULES = (
    Rule(
        "{id}", language="c/cpp", category="input_validation", cwe=20, confidence={confidence},
        check=lambda site: 0.0, title="house rule", description="Is not allowed here.", suggestion="Do not.",
        verification="", bad="{call}(a);", good="", calls=("{call}",),
    ),
)


def rules():
    return list(RULES)
"""
METADATA = "Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n"


def install(
    place: Path, value: str = "house_rules:RULES", code: str | None = None, *, name: str = "house", **said: object
) -> Path:
    """Write the package; `said` fills in its one rule."""
    info = place / f"{name}_rules-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(METADATA.replace("house", name))
    (info / "entry_points.txt").write_text(f"[jarvis_workers.rules]\n{name} = {value}\n")
    row = {"id": "house_rule", "call": "house_call", "confidence": 0.7} | said
    (place / f"{name}_rules.py").write_text(CODE.format(**row) if code is None else code)
    return place


def forget(modules: dict[str, object]) -> Callable[[], None]:
    """Return a function that makes Python import the packages of tests again."""

    def again() -> None:
        for name in [name for name in modules if name.endswith("_rules") and "." not in name]:
            del modules[name]

    return again
