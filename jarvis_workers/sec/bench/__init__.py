"""Compile a tree with sanitizers, and run or fuzz programs that prove a finding, in the sandbox."""
