"""Attacks on the sandbox: a separate program that uses it as any client does."""
