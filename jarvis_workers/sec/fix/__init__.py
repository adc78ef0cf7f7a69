"""Fix findings: the question to an agent, and the gates that a patch must pass; pure."""
