"""Canary: a known bug added to the candidates on request; if it is not confirmed, no verdict can be trusted.

The snapshot determines which bug it is, so that repeating a run repeats its requests.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from jarvis_workers.sec.candidate import candidate
from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.tools.tool import ToolFailed

# Not used by any candidate.
CANARY_GID = 0
CONFIDENCE = 0.9

TITLE = """\
#include <stdio.h>
#include <string.h>

struct window {
    char name[64];
    char label[32];
};

static void set_title(struct window *window, const char *title)
{
    sprintf(window->label, "%s: %s", window->name, title);
}

int main(int argc, char **argv)
{
    struct window window;

    if (argc < 3)
        return 1;
    snprintf(window.name, sizeof window.name, "%s", argv[1]);
    set_title(&window, argv[2]);
    puts(window.label);
    return 0;
}
"""
QUEUE = """\
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct entry {
    struct entry *next;
    char *text;
};

static void drop_all(struct entry *head)
{
    struct entry *entry;

    for (entry = head; entry != NULL; entry = entry->next) {
        free(entry->text);
        free(entry);
    }
}

int main(int argc, char **argv)
{
    struct entry *head = NULL;
    int i;

    for (i = 1; i < argc; i++) {
        struct entry *entry = malloc(sizeof *entry);
        if (entry == NULL)
            return 1;
        entry->text = strdup(argv[i]);
        entry->next = head;
        head = entry;
    }
    drop_all(head);
    return 0;
}
"""
COMMAND = """\
#include <stdio.h>
#include <stdlib.h>

static int archive(const char *name)
{
    char command[512];

    snprintf(command, sizeof command, "tar czf backup.tgz '%s'", name);
    return system(command);
}

int main(void)
{
    char name[256];

    if (fscanf(stdin, "%255[^\\n]", name) != 1)
        return 1;
    return archive(name);
}
"""


@dataclass(frozen=True)
class Canary:
    """A file with a bug, in a tree of its own: the line, the rule that reports it, and the condition to verify."""

    file: str
    code: str
    line: int
    pattern: str
    verification: str

    @property
    def found(self) -> Candidate:
        """The candidate for the bug."""
        hit = Hit(self.pattern, self.line, CONFIDENCE, self.code.splitlines()[self.line - 1].strip())
        return candidate(hit, self.file)

    def read(self, path: str) -> bytes:
        if path != self.file:
            raise ToolFailed(f"{path}: is not there")
        return self.code.encode()

    def paths(self) -> Iterator[str]:
        yield self.file


CANARIES = (
    Canary("src/title.c", TITLE, 11, "unsafe_api", "Can the text be longer than the label that it is written to?"),
    Canary("src/queue.c", QUEUE, 14, "uaf_suspect", "Is memory used after it was given back?"),
    Canary("src/archive.c", COMMAND, 9, "command_execution", "Can text from outside reach the shell unquoted?"),
)


def canary_for(snapshot_id: str) -> Canary:
    """Return the canary for a snapshot."""
    return CANARIES[sha256(snapshot_id.encode()).digest()[0] % len(CANARIES)]
