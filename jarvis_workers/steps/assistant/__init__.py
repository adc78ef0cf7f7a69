"""The steps of code changes and teams as jobs."""
