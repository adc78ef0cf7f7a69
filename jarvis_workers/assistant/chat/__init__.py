"""Use cases of the assistant: conversations at a terminal, files of the user, submitting tasks, sharing."""
