"""Questions about code that do not depend on a path."""
