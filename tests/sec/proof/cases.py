"""Small programs with one defect each, their fixed twins, and the attempts that prove the defects.

The line of the sink is marked; the fix replaces a piece of text.
"""

from dataclasses import dataclass
from pathlib import Path

from jarvis_workers.sec.proof.proof import Attempt, ProofFile, ProofTarget, TreeLine

SINK = "/* sink */"


@dataclass(frozen=True)
class Case:
    """A program: its files, its weakness, the replacement that fixes it, and the attempt that proves it."""

    name: str
    cwe: int
    files: dict[str, str]
    fix: tuple[str, str]
    attempt: Attempt

    def write(self, place: Path, *, fixed: bool = False) -> ProofTarget:
        """Write the files, and return the finding."""
        target = None
        for name, text in self.files.items():
            lines = text.split("\n")
            if any(SINK in line for line in lines):
                sink = next(number for number, line in enumerate(lines, 1) if SINK in line)
                first = max((n for n, line in enumerate(lines[:sink], 1) if line == "{"), default=1)
                last = next(n for n, line in enumerate(lines[sink:], sink + 1) if line == "}")
                target = ProofTarget(TreeLine(name, sink), self.cwe, first, last)
            assert not fixed or name != self._fixed_file or self.fix[0] in text
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text.replace(*self.fix) if fixed else text)
        assert target is not None
        return target

    @property
    def _fixed_file(self) -> str:
        return next(name for name, text in self.files.items() if self.fix[0] in text)


def stdin(content: bytes, target: str = "main.c") -> Attempt:
    """Return an attempt that passes bytes to a program."""
    return Attempt("program", target, files=(ProofFile("stdin", content),))


def harness(body: str, headers: str) -> Attempt:
    """Return a harness with this body of its main function."""
    standard = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    included = "".join(f'#include "{name}"\n' for name in headers.split())
    return Attempt("harness", code=f"{included}{standard}int main(void)\n{{\n{body}\n    return 0;\n}}\n")


READ_LINE = """\
#include <stdio.h>
#include "lib.h"
int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin))
        handle(line);
    return 0;
}
"""
HANDLE = "void handle(const char *line);\n"

RECORD_H = """\
#ifndef RECORD_H
#define RECORD_H
#include <stddef.h>
/* Decode a record: its first byte is the length of the name that follows. Returns the checksum of the name, or -1. */
int record_decode(const unsigned char *data, size_t size);
#endif
"""
RECORD_C = """\
#include "record.h"
#include <stdlib.h>
#include <string.h>
int record_decode(const unsigned char *data, size_t size)
{
    if (size < 1)
        return -1;
    unsigned length = data[0];
    if (length + 1 > size)
        return -1;
    unsigned char *name = malloc(16);
    memcpy(name, data + 1, length); /* sink */
    int sum = length ? name[0] + name[length - 1] : 0;
    free(name);
    return sum;
}
"""
SESSIONS = """\
#include <stdlib.h>
#include <string.h>
#include "lib.h"
struct session { int id; char user[32]; };
static struct session *current;
static void log_out(void)
{
    free(current);
    current = NULL;
}
static int who(void)
{
    return current->id; /* sink */
}
void handle(const char *line)
{
    static struct session *kept;
    if (!strncmp(line, "in", 2)) {
        current = kept = calloc(1, sizeof *current);
    } else if (!strncmp(line, "out", 3)) {
        if (current)
            log_out();
    } else if (!strncmp(line, "who", 3) && kept) {
        current = kept;
        who();
    }
}
"""
FIELDS = """\
#include <stdlib.h>
#include <string.h>
#include "lib.h"
static int parse(char *copy)
{
    char *comma = strchr(copy, ',');
    if (!comma) {
        free(copy); /* freed */
        return -1;
    }
    *comma = 0;
    return 0;
}
void handle(const char *line)
{
    char *copy = strdup(line);
    if (!copy)
        return;
    parse(copy);
    free(copy); /* sink */
}
"""
IMAGE_H = """\
#include <stddef.h>
unsigned char *image_load(const unsigned char *data, size_t size);
"""
IMAGE_C = """\
#include "image.h"
#include <stdint.h>
#include <stdlib.h>
static uint32_t word(const unsigned char *p)
{
    return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}
unsigned char *image_load(const unsigned char *data, size_t size)
{
    if (size < 8)
        return NULL;
    uint32_t width = word(data), height = word(data + 4);
    if (!width || !height)
        return NULL;
    uint32_t total = width * height * 4;
    unsigned char *pixels = malloc(total);
    if (!pixels)
        return NULL;
    for (uint32_t row = 0; row < height && row < 64; row++)
        pixels[(size_t)row * width * 4] = 255; /* sink */
    return pixels;
}
"""
IMAGE_FUZZ = """\
#include <stdlib.h>
#include "image.h"
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    free(image_load(data, size));
    return 0;
}
"""
TAGS_H = "#include <stddef.h>\nconst char *tag_name(const char *text, size_t length);\n"
TAGS_C = """\
#include "tags.h"
static const char *const names[] = {"none", "title", "artist", "album"};
const char *tag_name(const char *text, size_t length)
{
    if (length < 1)
        return names[0];
    int index = (signed char)text[0] - '0';
    if (index > 3)
        return names[0];
    return names[index]; /* sink */
}
"""
CONFIG = """\
#include <stdlib.h>
#include <string.h>
#include "lib.h"
struct entry { const char *key; int value; };
static struct entry entries[] = {{"width", 3}, {"height", 4}};
static struct entry *find(const char *key)
{
    for (unsigned at = 0; at < 2; at++)
        if (!strncmp(key, entries[at].key, strlen(entries[at].key)))
            return &entries[at];
    return NULL;
}
void handle(const char *line)
{
    struct entry *found = find(line);
    if (!entries[0].value)
        return;
    found->value++; /* sink */
}
"""
ECHO = """\
#include <stdio.h>
#include "lib.h"
void handle(const char *line)
{
    char text[64];
    snprintf(text, sizeof text, line); /* sink */
    puts(text);
}
"""
RATE = """\
#include <stdlib.h>
#include "lib.h"
void handle(const char *line)
{
    static volatile int shown;
    int rate = atoi(line);
    if (rate < 0)
        return;
    shown = 44100 / rate; /* sink */
}
"""
COPY_H = """\
#include <stddef.h>
/* Copy a text into a buffer of the given size, terminated. */
void label_copy(char *out, size_t size, const char *text);
"""
COPY_C = """\
#include "label.h"
#include <string.h>
void label_copy(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length > size)
        length = size;
    memcpy(out, text, length);
    out[length] = 0; /* sink */
}
"""
PERCENT = """\
#include <stdlib.h>
#include "lib.h"
static int percent_of(double share)
{
    return (int)(share * 100); /* sink */
}
void handle(const char *line)
{
    double share = atof(line);
    if (share <= 1)
        exit(percent_of(share) > 100);
}
"""
COUNTS = """\
#include "lib.h"
int counts[128];
void handle(const char *line)
{
    for (const char *at = line; *at; at++)
        counts[(unsigned char)*at]++; /* sink */
}
"""
NESTED = """\
#include "lib.h"
static const char *parse(const char *text, int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    while (*text == '(')
        text = parse(text + 1, depth + 1); /* sink */
    return *text && room[0] == (char)depth ? text + 1 : text;
}
void handle(const char *line)
{
    parse(line, 0);
}
"""
TITLE = """\
#include <string.h>
#include <stdio.h>
#include "lib.h"
void handle(const char *line)
{
    char title[32];
    strcpy(title, line); /* sink */
    puts(title);
}
"""


def program(text: str) -> dict[str, str]:
    """Return the files of a program that handles lines."""
    return {"main.c": READ_LINE, "lib.h": HANDLE, "lib.c": text}


CASES = (
    Case(
        "stack_overflow",
        121,
        program(TITLE),
        ("strcpy(title, line)", 'snprintf(title, sizeof title, "%s", line)'),
        stdin(b"a" * 200 + b"\n"),
    ),
    Case(
        "heap_overflow",
        122,
        {"record.c": RECORD_C, "record.h": RECORD_H},
        ("malloc(16)", "malloc(256)"),
        harness(
            "    unsigned char *data = malloc(101);\n    memset(data, 'a', 101);\n    data[0] = 100;\n"
            "    record_decode(data, 101);\n    free(data);",
            "record.h",
        ),
    ),
    Case(
        "use_after_free",
        416,
        program(SESSIONS),
        ("        current = kept;\n", "        if (!current)\n            return;\n"),
        stdin(b"in\nout\nwho\n"),
    ),
    Case("double_free", 415, program(FIELDS), ("        free(copy); /* freed */\n", ""), stdin(b"no separator\n")),
    Case(
        "integer_overflow",
        190,
        {"image.c": IMAGE_C, "image.h": IMAGE_H, "fuzz/fuzz_image.c": IMAGE_FUZZ},
        ("if (!width || !height)", "if (!width || !height || width > 4096 || height > 4096)"),
        Attempt(
            "fuzz_target",
            "fuzz/fuzz_image.c",
            files=(ProofFile("input", b"\x00\x00\x01\x00\x00\x40\x00\x00"),),
        ),
    ),
    Case(
        "negative_index",
        129,
        {"tags.c": TAGS_C, "tags.h": TAGS_H},
        ("if (index > 3)", "if (index < 0 || index > 3)"),
        harness('    char *text = strdup("\\x80");\n    puts(tag_name(text, 2));', "tags.h"),
    ),
    Case("null_dereference", 476, program(CONFIG), ("if (!entries[0].value)", "if (!found)"), stdin(b"depth=3\n")),
    Case(
        "format_string", 134, program(ECHO), ("sizeof text, line", 'sizeof text, "%s", line'), stdin(b"%s" * 40 + b"\n")
    ),
    Case("division_by_zero", 369, program(RATE), ("rate < 0", "rate <= 0"), stdin(b"0\n")),
    Case(
        "off_by_one",
        193,
        {"label.c": COPY_C, "label.h": COPY_H},
        ("length > size)\n        length = size;", "length >= size)\n        length = size - 1;"),
        harness('    char *out = malloc(4);\n    label_copy(out, 4, "abcdefg");\n    free(out);', "label.h"),
    ),
    Case("float_cast", 681, program(PERCENT), ("share <= 1", "share >= 0 && share <= 1"), stdin(b"-1e300\n")),
    Case("global_overflow", 787, program(COUNTS), ("counts[128]", "counts[256]"), stdin(b"\xff\n")),
    Case(
        "recursion",
        674,
        program(NESTED),
        ("while (*text == '(')", "while (*text == '(' && depth < 100)"),
        stdin(b"(" * 4000 + b"\n"),
    ),
)
