"""Run a command of unknown intent: it reads one directory, writes a scratch directory, and reaches nothing else."""
