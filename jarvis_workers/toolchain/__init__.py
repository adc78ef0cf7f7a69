"""Access to host programs and to the file system. Only this package and `sandbox` start processes."""
