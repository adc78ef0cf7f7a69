"""Scan source text: pattern matching, and lexers for C, C++ and Rust."""
