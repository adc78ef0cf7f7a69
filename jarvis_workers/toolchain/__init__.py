"""Access to host programs and to the file system. With `sandbox`, the only package that starts processes."""
