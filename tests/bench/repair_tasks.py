"""Ten small repositories, each with a defect, a failing test, and the edit that repairs it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

GIT = ("git", "-c", "user.name=Repair", "-c", "user.email=repair@example.org", "-c", "init.defaultBranch=main")


@dataclass(frozen=True)
class RepairTask:
    """A task: the repository's files, and the edit of `path` (`wrong` occurs once) after which `test` passes."""

    name: str
    text: str
    path: str
    wrong: str
    right: str
    files: dict[str, str]
    test: str


def make_repository(task: RepairTask, place: Path) -> None:
    """Make the repository of a task, with one commit, in a directory that does not exist."""
    place.mkdir(parents=True)
    for name, text in task.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "A small program"]):
        subprocess.run([*GIT, *command], cwd=place, check=True)


def passes(task: RepairTask, place: Path) -> bool:
    """Run the test of a task in a directory that holds its repository."""
    return subprocess.run(["sh", "-c", task.test], cwd=place, capture_output=True, timeout=60).returncode == 0


def _python(name: str, text: str, code: str, wrong: str, right: str, checks: str) -> RepairTask:
    files = {f"{name}.py": code, "test.py": f"from {name} import *\n{checks}"}
    return RepairTask(name, text, f"{name}.py", wrong, right, files, "PYTHONDONTWRITEBYTECODE=1 python3 test.py")


def _c(name: str, text: str, code: str, wrong: str, right: str, checks: str) -> RepairTask:
    files = {f"{name}.c": code, "test.c": f'#include <assert.h>\n#include "{name}.c"\nint main(void) {{\n{checks}}}\n'}
    return RepairTask(name, text, f"{name}.c", wrong, right, files, "cc -o repair-test test.c && ./repair-test")


TASKS = (
    _python(
        "median",
        "The median of an even number of values is wrong. Repair it.",
        "def median(values):\n    ordered = sorted(values)\n    return ordered[len(ordered) // 2]\n",
        "    return ordered[len(ordered) // 2]\n",
        "    middle = len(ordered) // 2\n    if len(ordered) % 2:\n        return ordered[middle]\n"
        "    return (ordered[middle - 1] + ordered[middle]) / 2\n",
        "assert median([3, 1, 2]) == 2\nassert median([4, 1, 3, 2]) == 2.5\n",
    ),
    _python(
        "slug",
        "slugs of titles with several spaces contain several dashes. One is enough.",
        'def slug(title):\n    return title.strip().lower().replace(" ", "-")\n',
        'title.strip().lower().replace(" ", "-")',
        '"-".join(title.lower().split())',
        'assert slug(" A  small   Title ") == "a-small-title"\n',
    ),
    _python(
        "ranges",
        "merge() loses a range that lies inside the one before.",
        "def merge(ranges):\n    merged = []\n    for start, end in sorted(ranges):\n"
        "        if merged and start <= merged[-1][1]:\n            merged[-1][1] = end\n"
        "        else:\n            merged.append([start, end])\n    return merged\n",
        "            merged[-1][1] = end\n",
        "            merged[-1][1] = max(end, merged[-1][1])\n",
        "assert merge([(1, 9), (2, 3)]) == [[1, 9]]\nassert merge([(1, 2), (4, 5)]) == [[1, 2], [4, 5]]\n",
    ),
    _python(
        "defaults",
        "Calls of collect() share their list. They should not.",
        "def collect(value, into=[]):\n    into.append(value)\n    return into\n",
        "def collect(value, into=[]):\n",
        "def collect(value, into=None):\n    into = [] if into is None else into\n",
        "assert collect(1) == [1]\nassert collect(2) == [2]\nassert collect(3, [0]) == [0, 3]\n",
    ),
    _python(
        "pages",
        "The last page is missing if it is not full.",
        "def pages(items, size):\n    return [items[at : at + size] for at in range(0, len(items) - size + 1, size)]\n",
        "range(0, len(items) - size + 1, size)",
        "range(0, len(items), size)",
        "assert pages([1, 2, 3], 2) == [[1, 2], [3]]\nassert pages([], 2) == []\n",
    ),
    _c(
        "copy",
        "copy_text() writes one byte behind the buffer if the text is too long.",
        "#include <string.h>\nvoid copy_text(char *to, unsigned long size, const char *from) {\n"
        "    unsigned long length = strlen(from);\n    if (length > size)\n        length = size;\n"
        "    memcpy(to, from, length);\n    to[length] = 0;\n}\n",
        "    if (length > size)\n        length = size;\n",
        "    if (length >= size)\n        length = size - 1;\n",
        '    char to[5] = "....";\n    copy_text(to, 4, "abcdef");\n    assert(!strcmp(to, "abc") && to[4] == 0);\n',
    ),
    _c(
        "bits",
        "count_bits() does not end for negative numbers.",
        "int count_bits(int number) {\n    int bits = 0;\n    while (number) {\n        bits += number & 1;\n"
        "        number >>= 1;\n        if (bits > 64)\n            return -1;\n    }\n    return bits;\n}\n",
        "int count_bits(int number) {\n    int bits = 0;\n",
        "int count_bits(int signed_number) {\n    unsigned number = signed_number;\n    int bits = 0;\n",
        "    assert(count_bits(5) == 2);\n    assert(count_bits(-1) == 32);\n",
    ),
    _c(
        "search",
        "find() does not find the last value.",
        "int find(const int *sorted, int count, int value) {\n    int low = 0, high = count - 1;\n"
        "    while (low < high) {\n        int middle = low + (high - low) / 2;\n"
        "        if (sorted[middle] == value)\n            return middle;\n        if (sorted[middle] < value)\n"
        "            low = middle + 1;\n        else\n            high = middle - 1;\n    }\n    return -1;\n}\n",
        "while (low < high)",
        "while (low <= high)",
        "    int some[] = {1, 3, 5};\n    assert(find(some, 3, 5) == 2);\n    assert(find(some, 3, 4) == -1);\n",
    ),
    _c(
        "queue",
        "The queue takes one value too many, and then loses its first one.",
        "#define PLACES 4\nstatic int queue[PLACES], first, used;\nint put(int value) {\n"
        "    if (used > PLACES)\n        return 0;\n    queue[(first + used++) % PLACES] = value;\n    return 1;\n}\n"
        "int take(void) {\n    int value = queue[first];\n    first = (first + 1) % PLACES;\n    used--;\n"
        "    return value;\n}\n",
        "    if (used > PLACES)\n",
        "    if (used >= PLACES)\n",
        "    for (int i = 0; i < 4; i++)\n        assert(put(i));\n    assert(!put(4));\n    assert(take() == 0);\n",
    ),
    _c(
        "trim",
        "trim() reads before the text if it is empty.",
        "#include <string.h>\nvoid trim(char *text) {\n    char *end = text + strlen(text) - 1;\n"
        "    while (*end == ' ')\n        *end-- = 0;\n}\n",
        "    while (*end == ' ')\n",
        "    while (end >= text && *end == ' ')\n",
        "    char some[3] = {' ', 0, 0};\n    trim(some + 1);\n    assert(some[0] == ' ');\n"
        '    char other[] = "ab  ";\n    trim(other);\n    assert(!strcmp(other, "ab"));\n',
    ),
)
