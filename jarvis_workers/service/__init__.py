"""What a user can ask: submit, wait, runs, reports."""
