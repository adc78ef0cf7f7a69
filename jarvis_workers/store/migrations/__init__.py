"""Migrations of the schema, in order."""
