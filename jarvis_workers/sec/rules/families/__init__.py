"""Rules by family: each module contains the rows of related rules and their checks."""
