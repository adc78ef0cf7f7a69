"""Fixtures of operation tests: `jarvis`, in a directory for each test."""

from tests.cli.conftest import jarvis as jarvis
