"""The steps of the assistant."""
