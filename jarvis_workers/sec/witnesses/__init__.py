"""Other analyzers that a scan runs: their command lines, and what they print."""
