"""The rows of symbols."""
