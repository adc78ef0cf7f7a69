"""Mechanical translation of the syntax tree of a C definition to Rust code with the same meaning."""
