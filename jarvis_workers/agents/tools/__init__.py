"""The tools that an agent may call."""
