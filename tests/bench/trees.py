"""Generate source trees for measurements: different small files, with a finding in every tenth."""

from pathlib import Path

FILES_PER_DIRECTORY = 500
SIZE = 1024


def make_tree(root: Path, files: int) -> None:
    """Write `files` C files of 1 KB below `root`."""
    for number in range(files):
        directory = root / f"d{number // FILES_PER_DIRECTORY:04d}"
        if number % FILES_PER_DIRECTORY == 0:
            directory.mkdir(parents=True)
        (directory / f"f{number:06d}.c").write_bytes(source(number))


def source(number: int) -> bytes:
    """Return 1 KB of C."""
    body = f"int value_{number}(char *d, const char *s)\n{{\n"
    body += "    strcpy(d, s);\n" if number % 10 == 0 else "    copy(d, s);\n"
    line = 0
    while len(body) < SIZE - 60:
        body += f"    d[{line}] = s[{line}] + {number % 97}; /* keep */\n"
        line += 1
    body += "    return 0;\n}\n"
    return body.ljust(SIZE - 1).encode() + b"\n"
