"""What a person can ask the assistant for: conversations, code changes, teams, memory."""
