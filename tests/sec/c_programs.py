"""Generate C files for property tests: functions with declarations, allocations, branches, loops, jumps and calls.

A program is text with variables in braces, so that it can be rendered with any names.
"""

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from hypothesis import strategies as st

__all__ = ["NAMES", "OTHER_NAMES", "Program", "programs"]

NAMES = {name: name for name in ("p", "q", "n", "i", "area", "line", "f")}
OTHER_NAMES = {"p": "tulip", "q": "rose_bed", "n": "amount", "i": "k2", "area": "meadow", "line": "hedge", "f": "gate"}
HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
DECLARED = "char *{q} = NULL;\nchar {area}[16];\nchar {line}[64];\nFILE *{f} = NULL;\nint {i} = 0;\n"
SIMPLE = """
{p} = malloc({n});
{p} = malloc(16);
{q} = strdup({line});
{q} = {p};
{q} = NULL;
{p} = {area};
free({p});
free({q});
{p}[0] = 1;
{n} = {q}[1];
{n} = {n} + 1;
{n} = atoi({line});
{n} = 0;
{n} = 100 / {n};
{i} = {n} - 1;
{p}++;
fgets({line}, sizeof {line}, stdin);
memcpy({area}, {p}, {n});
memset({area}, 0, sizeof {area});
{area}[{i}] = 0;
strcpy({area}, "four");
{f} = fopen({line}, "r");
fclose({f});
system({line});
printf({line});
printf("%s", {line});
take({p});
{q} = make({n});
{n} = count({p}, {n});
goto out;
return {n};
if ({p} == NULL) return -1;
if (!{q}) goto out;
;
""".splitlines()[1:]
HEADS = """
if ({p})
if ({n} > 3)
if ({n} < 0 || {n} > 15)
if (!{q} && {i})
while ({n} > 0)
while (*{q})
for ({i} = 0; {i} < {n}; {i}++)
for ({i} = 0; {i} <= 16; {i}++)
do
else
switch ({n})
""".splitlines()[1:]
CALLEES = (
    "void take(char *{p})\n«\n    free({p});\n»\n",
    "char *make(int {n})\n«\n    return malloc({n} + 1);\n»\n",
    "int count(char *{p}, int {n})\n«\n    if ({p} == NULL)\n        return 0;\n"
    "    {p}[0] = 'c';\n    return {n} - 1;\n»\n",
)


class Program(NamedTuple):
    """The functions of a file, each with its variables in braces, and the braces of C as `«` and `»`."""

    functions: tuple[str, ...]

    def text(self, names: Mapping[str, str] = NAMES, order: list[int] | None = None) -> str:
        chosen = self.functions if order is None else [self.functions[place] for place in order]
        return HEAD + "\n".join(one.format_map(names).replace("«", "{").replace("»", "}") for one in chosen)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def _blocks(draw: st.DrawFn, inner: st.SearchStrategy[list[str]]) -> list[str]:
    head, body = draw(st.sampled_from(HEADS)), draw(inner)
    if head == "else":
        return ["if ({i} == 2) «", *_indented(body), "» else «", *_indented(draw(inner)), "»"]
    if head == "do":
        return ["do «", *_indented(body), "» while ({n}-- > 0);"]
    if head.startswith("switch"):
        return [
            f"{head} «",
            "case 1:",
            *_indented(body),
            "    break;",
            "case 2:",
            *_indented(draw(inner)),
            "default:",
            "    break;",
            "»",
        ]
    ending = draw(st.sampled_from(["", "break;", "continue;"])) if head.startswith(("for", "while")) else ""
    return [f"{head} «", *_indented(body), *([f"    if ({{n}} == 7) {ending}"] if ending else []), "»"]


_lines = st.recursive(
    st.sampled_from(SIMPLE).map(lambda line: [line]),
    lambda inner: st.one_of(
        _blocks(inner), st.lists(inner, min_size=1, max_size=5).map(lambda parts: [*chain(*parts)])
    ),
    max_leaves=16,
)


@st.composite
def _functions(draw: st.DrawFn, number: int) -> str:
    body = draw(_lines)
    inside = [*DECLARED.splitlines(), *body, "out:", "return {n};"]
    text = "\n".join(_indented(inside))
    return f"int example{number}(char *{{p}}, int {{n}})\n«\n{text}\n»\n"


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Draw a file with up to three functions and those that they call."""
    count = draw(st.integers(1, 3))
    return Program((*CALLEES, *(draw(_functions(number)) for number in range(count))))
