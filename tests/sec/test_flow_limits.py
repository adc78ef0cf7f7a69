"""How long the flow engine takes, and how much memory, on code that grows or is extreme."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.sec.flow_faults import expected
from tests.sec.following import tell
from tests.support.machine import is_within

pytestmark = pytest.mark.long

SECONDS_MAX = 10
MEGABYTES_MAX = 1_000
TWICE = 2.5
# Less than this is too little to be measured.
LEAST = 0.05
TRIES = 3

BODY = "    p = malloc(n);\n    if (p == NULL)\n        return {k};\n    p[0] = {k};\n    free(p);\n"
GROWING: dict[str, Callable[[int], str]] = {
    "functions": lambda size: "".join(
        f"int f{k}(char *p, int n)\n{{\n{BODY.format(k=k)}    return n;\n}}\n" for k in range(120 * size)
    ),
    "one function": lambda size: (
        "int f(char *p, int n)\n{\n" + "".join(BODY.format(k=k) for k in range(150 * size)) + "    return n;\n}\n"
    ),
    "branches": lambda size: (
        "int f(char *p, int n)\n{\n    p = malloc(4);\n"
        + "    if (n & 1)\n        n = g(n);\n" * (300 * size)
        + "    free(p);\n    return n;\n}\n"
    ),
    "variables": lambda size: (
        "int f(char *p)\n{\n"
        + "".join(f"    char *v{k} = malloc({k});\n" for k in range(300 * size))
        + "    return 0;\n}\n"
    ),
    "globals": lambda size: (
        "".join(f"int g{k} = {k};\n" for k in range(750 * size))
        + "int f(char *p)\n{\n    free(p);\n    return p[0];\n}\n"
    ),
    "macros": lambda size: (
        "".join(f"#define M{k}(a) free(a)\n" for k in range(800 * size))
        + "int f(char *p)\n{\n    M1(p);\n    free(p);\n    return p[0];\n}\n"
    ),
    "calls": lambda size: (
        "static void d(char *p)\n{\n    free(p);\n}\n"
        + "int f(char *p)\n{\n    p = malloc(1);\n"
        + "    d(p);\n    p = malloc(2);\n" * (100 * size)
        + "    return 0;\n}\n"
    ),
    "arguments": lambda size: "int f(char *p)\n{\n    free(p);\n    return g(" + "p, " * (700 * size) + "0);\n}\n",
}


def seconds_for(content: bytes) -> float:
    """Without the collector: what other tests have left in memory shall not be looked through meanwhile."""
    gc.disable()
    before = time.process_time()
    tell(content)
    taken = time.process_time() - before
    gc.enable()
    return max(LEAST, taken)


@pytest.mark.timing
@pytest.mark.parametrize("kind", [expected(f"growing:{kind}", kind) for kind in GROWING])
def test_twice_the_code_takes_at_most_two_and_a_half_times_as_long(kind: str) -> None:
    contents = [GROWING[kind](size).encode() for size in (1, 2, 4, 8)]
    taken = [seconds_for(content) for content in contents]
    for _ in range(TRIES):
        if is_linear(taken):
            break
        taken = [min(first, seconds_for(content)) for first, content in zip(taken, contents, strict=True)]

    assert is_linear(taken), taken


def is_linear(taken: list[float]) -> bool:
    return all(second <= TWICE * first for first, second in pairwise(taken))


def inside(body: str, head: str = "int f(char *p, int n)") -> str:
    return f"{head}\n{{\n    p = malloc(n);\n{body}\n    free(p);\n    return p[0];\n}}\n"


EXTREME: dict[str, Callable[[], str]] = {
    "a function of a megabyte": lambda: inside("    n = g(n, p[0]);\n" * 52_000),
    "a function just short enough to be followed": lambda: inside("    if (g(n))\n        n = p[0];\n" * 3_400),
    "ten thousand braces": lambda: inside("{" * 10_000 + "}" * 10_000),
    "ten thousand blocks in conditions": lambda: inside("if (n) {" * 10_000 + "}" * 10_000),
    "ten thousand parentheses": lambda: inside("    n = " + "(" * 10_000 + "n" + ")" * 10_000 + ";"),
    "ten thousand calls in calls": lambda: inside("    n = " + "g(" * 10_000 + "n" + ")" * 10_000 + ";"),
    "ten thousand minus signs": lambda: inside("    n = " + "- " * 10_000 + "n;"),
    "ten thousand additions": lambda: inside("    n = n" + " + n" * 10_000 + ";"),
    "ten thousand arrows": lambda: inside("    n = p" + "->p" * 10_000 + ";"),
    "forty elements of fields": lambda: inside("    n = p" + "->p[1]" * 40 + "->n;"),
    "ten thousand opened braces": lambda: inside("{" * 10_000),
    "ten thousand opened parentheses": lambda: inside("    n = " + "(" * 10_000),
    "ten thousand conditional expressions": lambda: inside("    n = " + "n ? 1 : " * 10_000 + "2;"),
    "five thousand else ifs": lambda: inside(
        "    if (n == 0)\n        n = 1;\n" + "    else if (n == 2)\n        n = 3;\n" * 5_000
    ),
    "five thousand nested ifs": lambda: inside("if (g(n))\n" * 5_000 + "n = 1;"),
    "five thousand nested loops": lambda: inside("while (g(n))\n" * 5_000 + "n = 1;"),
    "twenty thousand variables": lambda: inside("".join(f"int v{k};\n" for k in range(20_000))),
    "twenty thousand variables in one declaration": lambda: inside(
        "int " + ", ".join(f"v{k}" for k in range(20_000)) + ";"
    ),
    "twenty thousand gotos": lambda: inside("if (n) goto out;\n" * 20_000 + "out:"),
    "a thousand gotos, each to a label of its own": lambda: inside(
        "".join(f"if (g({k})) goto l{k};\n" for k in range(1_000)) + "".join(f"l{k}:\n" for k in range(1_000))
    ),
    "two thousand cases": lambda: inside(
        "switch (n) {\n" + "".join(f"case {k}: p = malloc({k});\n" for k in range(2_000)) + "}"
    ),
    "two thousand functions": lambda: "".join(
        inside("    n = g(n);", head=f"int f{k}(char *p, int n)") for k in range(2_000)
    ),
    "two thousand functions that call the next": lambda: "".join(
        inside(f"    n = f{k + 1}(p, n);", head=f"int f{k}(char *p, int n)") for k in range(2_000)
    ),
    "functions that call each other six ways": lambda: "".join(
        inside("".join(f"    n = f{to}(p, n);\n" for to in range(6)), head=f"int f{k}(char *p, int n)")
        for k in range(6)
    ),
    "macros that double each other": lambda: (
        "".join(f"#define M{k} (M{k + 1} + M{k + 1})\n" for k in range(60)) + inside("    n = M0;")
    ),
    "function-like macros that double each other": lambda: (
        "".join(f"#define M{k}(a) (M{k + 1}(a) + M{k + 1}(a))\n" for k in range(60)) + inside("    n = M0(n);")
    ),
    "structs within structs": lambda: (
        "struct s0 { int a; };\n"
        + "".join(f"struct s{k} {{ struct s{k - 1} a, b; }};\n" for k in range(1, 60))
        + inside("    struct s59 v;\n    n = sizeof v;")
    ),
    "a number of ten thousand digits": lambda: inside("    n = " + "9" * 10_000 + " * 2;"),
    "shifts by large numbers": lambda: inside("    n = 1 << 100000000;\n    n = n << 63 << 63 << 63;\n"),
    "large numbers multiplied again and again": lambda: inside("    long m = 3;\n" + "    m = m * m;\n" * 200),
    "a string of a megabyte": lambda: inside('    puts("' + "a" * 1_000_000 + '");'),
    "a line of a megabyte": lambda: inside("n = g(n); " * 100_000),
}
MEASURE = """
import json
import resource
import sys
import time
from tests.sec.flow_faults import expected
from tests.sec.following import tell
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
content = sys.stdin.buffer.read()
before = time.process_time()
tell(content)
seconds = time.process_time() - before
print(json.dumps({"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}))
"""


@pytest.mark.timing
@pytest.mark.parametrize("kind", [expected(f"extreme:{kind}", kind) for kind in EXTREME])
def test_what_is_extreme_ends_in_time_and_in_little_memory(kind: str) -> None:
    """In a process of its own: what goes too deep there may end it."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=EXTREME[kind]().encode(), capture_output=True, timeout=100, check=False
    )

    assert done.returncode == 0, done.stderr.decode()[-500:]
    used = json.loads(done.stdout)
    assert is_within(used["seconds"], SECONDS_MAX)
    assert used["megabytes"] <= MEGABYTES_MAX
