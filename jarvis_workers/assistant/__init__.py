"""The assistant around the agent loop: memory, planning, code changes, teams; pure."""
