"""Rules by family: each module has the rows of related rules and their checks."""
