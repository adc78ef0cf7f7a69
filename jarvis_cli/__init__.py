"""The command line: the table of all commands, and those that belong to no domain."""
