"""Mechanical translation: the syntax tree of a C definition becomes Rust of the same meaning."""
