"""Rules of the data-flow analysis: rows only, as `dataflow` implements the checks."""

from jarvis_workers.sec.rules.families import flow_buffers, flow_outside, flow_pointers, flow_returns, flow_undone

# Facts that prove a line harmless on every path, and the text rules that they silence there.
HARMLESS = {
    "harmless_command": ("command_execution",),
    "harmless_copy": ("boundary_funcs", "unsafe_api"),
    "harmless_format": ("format_string",),
}

RULES = (*flow_pointers.RULES, *flow_undone.RULES, *flow_buffers.RULES, *flow_outside.RULES, *flow_returns.RULES)
