"""Reports of runs: rendering, export, comparison, baselines, live results."""
