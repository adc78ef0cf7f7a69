"""Execute the jobs of runs: in child processes of the command, or on Celery workers."""
