"""The local executor: jobs of a run in child processes and threads of this machine."""
