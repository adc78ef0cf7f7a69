"""Loops: how they count, what they change, and their execution."""
