"""The agent runtime: conversations with models, their budgets, and the event loop that they share."""
