"""Local analyses of masked source text that several rule families share."""
