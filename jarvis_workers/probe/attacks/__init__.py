"""Attacks on the sandbox, as its selftest makes them: they run inside, and need the standard library alone."""
