"""What the commands of all domains share: options, output, progress, exit codes; knows no domain."""
