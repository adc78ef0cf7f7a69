"""Local analyses of masked source text, shared by several rule families."""
