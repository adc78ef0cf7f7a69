"""What `dataflow` finds by following values through functions and files: rows alone, as it has the checks."""

from jarvis_workers.sec.rules.families import flow_buffers, flow_outside, flow_pointers, flow_returns, flow_undone

__all__ = ["HARMLESS", "RULES"]

# What is shown to do no harm on every path through its line, and the rules that have nothing to say there.
HARMLESS = {
    "harmless_command": ("command_execution",),
    "harmless_copy": ("boundary_funcs", "unsafe_api"),
    "harmless_format": ("format_string",),
}

RULES = (*flow_pointers.RULES, *flow_undone.RULES, *flow_buffers.RULES, *flow_outside.RULES, *flow_returns.RULES)
