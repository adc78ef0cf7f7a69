"""Benches: directories in the sandbox, in which a project is built with slots and tested, and its crate is built."""
