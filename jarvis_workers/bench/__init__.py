"""Benches: directories in which a project is built with slots and tested, and its crate is built, in the sandbox."""
