"""The HTML pages, one module per subject."""
