"""How deep a scan looks: at single places only ("rules"), or along paths, too ("flow")."""

from collections.abc import Mapping
from typing import Any, Literal

Depth = Literal["rules", "flow"]
FLOW_DEPTH: Depth = "flow"
RULES_ONLY = "The data-flow rules did not run (--depth rules), so defects along a path are not reported."


def depth_note(run: Mapping[str, Any]) -> str | None:
    """Return what a report says about the depth of its run, given the `run` part; None if all rules may run."""
    rules = run.get("rules")
    depth = rules.get("depth", FLOW_DEPTH) if isinstance(rules, Mapping) else FLOW_DEPTH
    return RULES_ONLY if depth != FLOW_DEPTH else None
