"""The typed Python API: scan files, trees or text, and work with the report. docs/api.md is its guide."""
