"""Conversations with language models: the loop, its tools, MCP clients, and conversations as jobs of a run."""
