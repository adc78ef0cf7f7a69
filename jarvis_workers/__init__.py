"""Jarvis Workers: fleets of jobs that find vulnerabilities in C, C++ and Rust."""

__version__ = "0.1.0"
