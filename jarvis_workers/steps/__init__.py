"""One file per step, and the table of what follows what."""
