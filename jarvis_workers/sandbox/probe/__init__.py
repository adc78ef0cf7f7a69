"""Attacks on the sandbox: a separate program that uses the sandbox like any other client."""
