"""Reports of a symbol graph: text, Markdown, JSON, and an interactive HTML page."""
