"""Orchestration of runs: stages, jobs, the controller, and what carries a step's result to the store."""
