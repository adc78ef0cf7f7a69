"""The assistant's files, locks and clocks: what `jarvis_workers.assistant` must not touch."""
