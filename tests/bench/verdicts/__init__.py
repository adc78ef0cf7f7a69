"""A benchmark of verdicts: labelled code, what a model made of it, and how often it was right."""
