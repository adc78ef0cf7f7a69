"""Tests of what docs/operate.md describes: backup and restore, upgrades."""
