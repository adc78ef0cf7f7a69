"""Attack the sandbox: a program of its own, which uses it like any other."""
