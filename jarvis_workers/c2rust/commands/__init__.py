"""The commands `jarvis c2rust …`: options, and the text that they print."""
