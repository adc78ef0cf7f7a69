"""Attacks on the sandbox for its self-test; they run inside it and use the standard library only."""
