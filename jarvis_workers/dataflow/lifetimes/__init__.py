"""Lifetimes in C++: owners, and what refers to them, in one walk over the statements of a function."""
