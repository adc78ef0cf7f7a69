"""What an agent remembers beyond a conversation: entries with tags, on three levels."""
