"""The rows of memories."""
