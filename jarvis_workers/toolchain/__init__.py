"""Access to host programs and to the file system: child processes, forks, git, compilers, cargo."""
