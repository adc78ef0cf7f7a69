"""Rate limits shared by workers through Redis."""
