"""The stage of runs that give one agent a task: its kind, options and step."""
