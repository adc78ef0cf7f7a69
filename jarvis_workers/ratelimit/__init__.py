"""Who may ask a model now: a line before what its provider allows, within a budget."""
