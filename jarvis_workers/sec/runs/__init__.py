"""Scans as runs: their input, estimate and facts, and small scans in a fork."""
