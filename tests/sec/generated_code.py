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


SHAPES = (_list, _parse, _read, _switch, _sums)
