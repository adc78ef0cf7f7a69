"""Discovery: rank functions by their exposure to outside data, and ask a model for defects that no rule has found."""
