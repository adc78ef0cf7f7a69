"""The typed Python API: scan files, trees or text, and work with the report. See docs/api.md."""
