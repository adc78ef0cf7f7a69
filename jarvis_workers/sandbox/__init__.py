"""Run untrusted commands: they may read one directory, write a scratch directory, and access nothing else."""
