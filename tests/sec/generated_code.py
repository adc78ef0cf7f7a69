"""C code for measurements, made by a seeded generator; it contains nothing of anyone's project."""

import random
from collections.abc import Callable, Iterator

SHAPES: tuple[Callable[[int, random.Random], str], ...]


def generated_files(number: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Yield files of C code with their names, the same for every seed on every machine."""
    chance = random.Random(seed)
    for place in range(number):
        functions = [chance.choice(SHAPES)(place * 100 + one, chance) for one in range(chance.randrange(12, 24))]
        yield f"part{place}.c", (HEAD + "\n".join(functions)).encode()


HEAD = """
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MUST(p) do { if (!(p)) abort(); } while (0)
#define LIMIT 64
struct item { struct item *next; char *name; int kind; char text[LIMIT]; };
static char *copy_text(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    if (!copy)
        return NULL;
    strcpy(copy, text);
    return copy;
}
static void drop_item(struct item *item)
{
    free(item->name);
    free(item);
}
struct buffer { char *text; size_t used, room; struct buffer *next; };
struct session { struct item *items; struct buffer *out; int level, failed; char error[LIMIT]; };
extern FILE *log_file;
static void log_list(int level, const char *format, va_list list)
{
    char line[256];
    int n = vsnprintf(line, sizeof line, format, list);
    if (n > 0 && log_file && level < 3)
        fwrite(line, 1, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, log_file);
}
static void log_line(int level, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    log_list(level, format, list);
    va_end(list);
}
static void release(void *memory, const char *file, int line)
{
    if (memory) {
        if (file)
            log_line(2, "%s:%d release %p", file, line, memory);
        free(memory);
    }
}
static int fail(struct session *s, const char *format, ...)
{
    va_list list;
    if (!s)
        return -1;
    s->failed++;
    va_start(list, format);
    vsnprintf(s->error, sizeof s->error, format, list);
    va_end(list);
    return -1;
}
static int reserve(struct buffer *b, size_t more)
{
    size_t room = b->room ? b->room : 16;
    char *text;
    while (room < b->used + more)
        room *= 2;
    if (room == b->room)
        return 0;
    text = realloc(b->text, room);
    if (!text)
        return -1;
    b->text = text;
    b->room = room;
    return 0;
}
static int append(struct buffer *b, const char *text, size_t n)
{
    if (!text || reserve(b, n + 1))
        return -1;
    memcpy(b->text + b->used, text, n);
    b->used += n;
    b->text[b->used] = 0;
    return 0;
}
static void release_buffers(struct buffer *b)
{
    struct buffer *next;
    for (; b; b = next) {
        next = b->next;
        release(b->text, __FILE__, __LINE__);
        release(b, __FILE__, __LINE__);
    }
}
static unsigned mixed(const struct item *item, unsigned seed)
{
    unsigned all[3] = {seed, (unsigned)item->kind, item->name ? (unsigned)item->name[0] : 0}, hash = 0;
    int i;
    for (i = 0; i < 3; i++) {
        hash += all[i];
        hash = ~hash + (hash << 21);
        hash ^= hash >> 24;
        hash = hash + (hash << 3) + (hash << 8);
        hash ^= hash >> 14;
    }
    return hash;
}
"""


def _list(name: int, chance: random.Random) -> str:
    released = chance.choice(("drop_item(item);", "free(item->name);"))
    return f"""
int count_items_{name}(struct item *list, int kind)
{{
    int count = 0;
    struct item *item, *next;
    for (item = list; item; item = next) {{
        next = item->next;
        if (item->kind == kind || (item->name && item->name[0] == '{chance.choice("abc")}')) {{
            {released}
            count++;
        }}
    }}
    return count;
}}
"""


def _parse(name: int, chance: random.Random) -> str:
    words = [f"option{chance.randrange(50)}" for _ in range(chance.randrange(4, 20))]
    chain = " else ".join(
        f'if (!strcmp(word, "{word}") && argc == {place}) {{ mode = {place}; strncpy(out, word, sizeof out - 1); }}'
        for place, word in enumerate(words)
    )
    return f"""
int parse_options_{name}(int argc, char **argv)
{{
    char out[{chance.choice((8, 16, 64))}];
    int mode = 0, i;
    for (i = 1; i < argc; i++) {{
        const char *word = argv[i];
        {chain}
        else sprintf(out, "%s-%d", word, mode); /* kept */
    }}
    return mode + out[0];
}}
"""


def _read(name: int, chance: random.Random) -> str:
    return f"""
static int read_block_{name}(FILE *in, unsigned char *to, size_t room)
{{
    unsigned int length, i;
    char line[{chance.choice((32, 128))}];
    if (!fgets(line, sizeof(line), in))
        return -1;
    length = atoi(line);
    {chance.choice(("if (length > room) return -1;", "if (length + 4 > room) return -1;", ""))}
    for (i = 0; i < length; i++) {{
        int byte = fgetc(in);
        if (byte == EOF)
            break;
        to[i] = (unsigned char)byte;
    }}
    memcpy(line, to, length);
    return (int)i;
}}
"""


def _switch(name: int, chance: random.Random) -> str:
    cases = "\n".join(
        f"    case {place}: text = copy_text(item->text); MUST(text); item->kind = {chance.randrange(9)}; break;"
        for place in range(chance.randrange(3, 14))
    )
    return f"""
char *state_{name}(struct item *item, int state)
{{
    char *text = NULL;
    switch (state) {{
{cases}
    default: goto out;
    }}
    if (text && item->next)
        item->next->name = text;
out:
    {chance.choice(("free(text); return NULL;", "return text;"))}
}}
"""


def _sums(name: int, chance: random.Random) -> str:
    terms = " + ".join(f"values[{chance.randrange(40)}] * {chance.randrange(9)}" for _ in range(12))
    return f"""
long sum_{name}(const int *values, int n)
{{
    int table[{chance.choice((16, 32, 40))}], i;
    long total = 0;
    for (i = 0; i <= n; i++)
        table[i] = values[i];
    while (n-- > 0)
        total += {terms} + table[n];
    return total;
}}
"""


def _cleanup(name: int, chance: random.Random) -> str:
    """Return a function that gets several things, and lets go of them behind a label."""
    names = [f"part{one}" for one in range(chance.randrange(3, 7))]
    declared = "\n".join(f"    char *{one} = NULL;" for one in names)
    got = "\n".join(
        f"""    {one} = copy_text(s->items->text);
    if (!{one}) {{
        result = fail(s, "no memory for %s of %d", s->error, {place});
        goto out;
    }}
    log_line(1, "{one} is %s", {one});
    if (append(s->out, {one}, strlen({one})))
        {chance.choice(("goto out;", "return fail(s, NULL);", "result = fail(s, NULL);"))}"""
        for place, one in enumerate(names)
    )
    released = "\n".join(f"    release({one}, __FILE__, __LINE__);" for one in names)
    return f"""
int send_parts_{name}(struct session *s)
{{
    int result = 0;
{declared}
    if (!s || !s->items || !s->out)
        return -1;
{got}
out:
{released}
    return result;
}}
"""


def _layers(name: int, chance: random.Random) -> str:
    """Return functions that call each other, with what they find or make."""
    checked = chance.choice(('if (!item)\n        return fail(s, "no %d", kind);', ""))
    return f"""
static struct item *find_{name}(struct session *s, int kind)
{{
    struct item *item;
    for (item = s->items; item; item = item->next)
        if (item->kind == kind && mixed(item, 7) % 3)
            return item;
    return NULL;
}}
static struct buffer *make_buffer_{name}(struct session *s, const char *text)
{{
    struct buffer *b = calloc(1, sizeof *b);
    if (!b) {{
        fail(s, "no memory");
        return NULL;
    }}
    if (append(b, text, strlen(text))) {{
        release_buffers(b);
        return NULL;
    }}
    return b;
}}
int answer_{name}(struct session *s, int kind)
{{
    struct item *item = find_{name}(s, kind);
    struct buffer *b, *last = s->out;
    {checked}
    log_line(0, "answer %s with %u", item->name, mixed(item, {chance.randrange(99)}));
    b = make_buffer_{name}(s, item->text);
    if (!b)
        return -1;
    while (last && last->next)
        last = last->next;
    if (!last) {{
        release_buffers(b);
        return fail(s, "nowhere to put %s", item->name);
    }}
    if (s->level > {chance.randrange(3)}) {{
        log_line(2, "%s", b->text);
        {chance.choice(("release_buffers(b);", "last->next = b;", "s->out = b;"))}
        return (int)mixed(item, 1);
    }}
    last->next = b;
    return 0;
}}
"""


SHAPES = (_list, _parse, _read, _switch, _sums, _cleanup, _layers)
