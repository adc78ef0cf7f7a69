"""A client of MCP servers (Model Context Protocol), whose tools an agent may call; alone imports mcp."""
