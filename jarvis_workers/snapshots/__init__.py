"""Pack a source tree into content-addressed blobs, and read it."""
