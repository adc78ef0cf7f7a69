"""The state of the analysis: values, one path, and the context of a file."""
