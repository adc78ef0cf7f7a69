"""Stages of runs over C projects: the kinds of runs, their options, one module per step, and types of results."""
