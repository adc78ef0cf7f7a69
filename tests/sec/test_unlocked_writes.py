"""unlocked_access over files with many variables and many calls."""

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner

SCANNER = Scanner(rules=[RULES_BY_PATTERN["unlocked_access"]])
LOCKED = (
    "void {name}(void)\n{{\n    pthread_mutex_lock(&mutex);\n    count++;\n"
    "{calls}    pthread_mutex_unlock(&mutex);\n}}\n\n"
)
CODE = (
    (
        "static pthread_mutex_t mutex;\n{before}static int count;\n\n"
        + LOCKED.format(name="add_one", calls="")
        + LOCKED.format(name="add_more", calls="")
        + "{own}void drop_one(void)\n{{\n    count--;\n}}\n\n{after}"
    )
    .replace("{{", "{")
    .replace("}}", "}")
)


def lines_of(before: str = "", own: str = "", after: str = "") -> list[int]:
    code = CODE.replace("{before}", before).replace("{own}", own).replace("{after}", after)
    found = SCANNER.scan(code.encode(), language="c/cpp")
    assert found.problem is None
    return [hit.line - code[: code.index("count--")].count("\n") - 1 for hit in found.hits]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "".join(f"static int another{number};\n" for number in range(300)),
        "".join(f"typedef struct {{\n    int a;\n}} a_type{number};\n" for number in range(300)),
    ],
)
def test_no_number_of_other_names_hides_a_write(before: str) -> None:
    assert lines_of(before) == [0]


def test_a_caller_behind_many_mentions_may_hold_the_mutex() -> None:
    mentions = f"void use(void)\n{{\n{'    note(drop_one);' * 60}\n}}\n\n"
    caller = LOCKED.format(name="drop_locked", calls="    drop_one();\n")

    assert lines_of(after=caller) == []
    assert lines_of(after=mentions + caller) == []
