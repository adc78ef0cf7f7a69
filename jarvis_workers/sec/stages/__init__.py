"""Stages of scans, fixes and discussions: their kinds, options, one module per step, and types of results."""
