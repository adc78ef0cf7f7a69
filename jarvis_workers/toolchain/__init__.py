"""Run programs of the host. Alone starts processes."""
