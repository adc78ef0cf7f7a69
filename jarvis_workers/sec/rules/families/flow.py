"""Rules of the data-flow analysis: `rules.json` has a row for each; their checks are in `dataflow`."""

from jarvis_workers.sec.rules.rule import rows, rule

# Facts that prove a line harmless on every path, or say that all paths from there were followed and what is wrong on
# them was reported; and the text rules that they silence there.
HARMLESS = {
    "followed_free": ("uaf_suspect", "double_free_and_free_non_heap"),
    "followed_leak": ("error_path_leak",),
    "followed_null": ("malloc_no_null_check", "possible_null_deref"),
    "harmless_command": ("command_execution",),
    "harmless_copy": ("boundary_funcs", "unsafe_api"),
    "harmless_format": ("format_string",),
    "harmless_size": ("alloc_size_overflow",),
}

RULES = tuple(rule(pattern) for pattern in rows() if pattern.startswith("flow_"))
