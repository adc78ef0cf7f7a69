"""A small program in memory, for tests of slices and verification."""

from collections.abc import Iterator, Mapping

from jarvis_workers.agents.tools.tool import ToolFailed

COPY = """#include "a.h"

static int checked(const char *s);

int copy_it(char *d, const char *s) /* the caller has checked it */
{
    char small[SMALL];
    strcpy(d, s); // it fits
    return checked(d);
}

static int checked(const char *s)
{
    return s[0] != 0;
}
"""
HEADER = """#define SMALL 8

struct box {
    char room[SMALL];
};

int copy_it(char *d, const char *s);
"""
MAIN = """#include "a.h"

int main(int argc, char **argv)
{
    struct box box;
    return copy_it(box.room, argv[1]);
}
"""
FILES = {"src/a.c": COPY, "src/a.h": HEADER, "src/main.c": MAIN, "README": "All of it was reviewed.\n"}


class Files:
    """A tree in memory."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.all = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def read(self, path: str) -> bytes:
        try:
            return self.all[path.removeprefix("./")]
        except KeyError as error:
            raise ToolFailed(f"{path}: does not exist") from error

    def paths(self) -> Iterator[str]:
        return iter(sorted(self.all))
