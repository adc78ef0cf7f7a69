"""Benches: places where a project is built with slots, its tests run, and crates are built, always in the sandbox."""
