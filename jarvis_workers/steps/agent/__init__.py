"""The step of a single agent conversation."""
