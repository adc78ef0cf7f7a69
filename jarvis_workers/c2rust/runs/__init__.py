"""Use cases of `jarvis c2rust`: submitting its runs, and reading and writing their results."""
