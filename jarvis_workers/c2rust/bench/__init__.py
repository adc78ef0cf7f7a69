"""Build a C project with slots and its crate in directories of the sandbox, and run their tests there."""
