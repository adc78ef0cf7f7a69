"""Orchestration of runs: stages, the execution of jobs, the saving of their results, and the controller."""
