"""Rules of the data-flow analysis: `rules.json` has a row for each; their checks are in `dataflow`."""

from jarvis_workers.sec.rules.rule import rows, rule

# Facts that prove a line harmless on every path, and the text rules that they silence there.
HARMLESS = {
    "harmless_command": ("command_execution",),
    "harmless_copy": ("boundary_funcs", "unsafe_api"),
    "harmless_format": ("format_string",),
}

RULES = tuple(rule(pattern) for pattern in rows() if pattern.startswith("flow_"))
