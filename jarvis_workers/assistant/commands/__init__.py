"""The commands `jarvis agent`, `chat`, `code`, `team` and `memory`."""
