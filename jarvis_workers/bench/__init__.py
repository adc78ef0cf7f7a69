"""Benches: directories in which a project is built with slots, tested, and its crate built, always in the sandbox."""
