"""The local executor: runs the jobs of a run in child processes and threads on this machine."""
