"""Calls: which function is called, whether it returns, and what it does if its body is not followed."""
