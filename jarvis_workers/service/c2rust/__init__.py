"""Use cases of `jarvis c2rust`."""
