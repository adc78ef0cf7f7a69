"""The command line: options, progress, exit codes."""
