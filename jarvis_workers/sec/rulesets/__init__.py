"""Rule selection, project rules from YAML files, and their tests."""
