"""Judging candidates with a model: clustering, verification, questions, verdicts, code slices."""
