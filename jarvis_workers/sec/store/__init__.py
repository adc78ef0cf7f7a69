"""The tables of candidates, clusters, verdicts, proofs, baselines and triage, and their queries."""
