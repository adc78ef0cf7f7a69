"""Findings of other analyzers: reports of theirs as alerts, and the lines of a tree that they speak of."""
