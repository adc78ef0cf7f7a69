"""The gate that keeps functions: right patches pass, whatever removes or disables code does not."""

import pytest

from jarvis_workers.sec.fix.gates import FileContents
from jarvis_workers.sec.fix.kept_functions import check_function, code_difference

COPY = b"""\
#include <string.h>
int copy(char *out, size_t size, const char *name)
{
    /* copies */
    if (name == NULL)
        return -1;
    strcpy(out, name);
    note(out);
    return 0;
}
int twice(char *p)
{
    free(p);
    free(p);
    return 1;
}
"""
RIGHT = {
    "a check before the call": (b"    strcpy(", b"    if (strlen(name) >= size)\n        return -1;\n    strcpy("),
    "a check with a block": (
        b"    strcpy(",
        b"    if (strlen(name) >= size) {\n        return -1;\n    }\n    strcpy(",
    ),
    "a bounded call": (
        b"    strcpy(out, name);",
        b'    if (snprintf(out, size, "%s", name) >= (int)size)\n        return -1;',
    ),
    "a header and a macro": (b"#include <string.h>\n", b"#include <stdint.h>\n#include <string.h>\n#define MOST 16\n"),
    "a jump to the end": (
        b"strcpy(out, name);\n    note(out);\n    return 0;",
        b"if (!size)\n        goto end;\n    strncpy(out, name, size);\nend:\n    return 0;",
    ),
    "an end in a loop": (
        b"    strcpy(",
        b"    for (;;) {\n        if (!size)\n            break;\n        return 1;\n    }\n    strcpy(",
    ),
    "another order": (b"    strcpy(out, name);\n    note(out);", b"    note(out);\n    strcpy(out, name);"),
    "an else": (
        b"        return -1;\n    strcpy(",
        b"        return -1;\n    else if (!size)\n        return -2;\n    strlcpy(",
    ),
}
WRONG = {
    "a return at the top": (b"    if (name == NULL)", b"    return -1;\n    if (name == NULL)", "refuses every input"),
    "an exit": (b"    strcpy(", b"    exit(1);\n    strcpy(", "refuses every input"),
    "a block of a dead condition": (
        b"    strcpy(out, name);",
        b"    if (false) { strcpy(out, name); }",
        "constant condition",
    ),
    "an or": (b"name == NULL", b"name == NULL || 1", "constant condition"),
    "an ifdef": (b"    strcpy(out, name);", b"#ifdef UNSAFE\n    strcpy(out, name);\n#endif", "conditional"),
    "another name": (b"int copy(", b"int copy_safe(", "function copy is removed"),
    "a pragma": (b"int copy(", b'#pragma GCC diagnostic ignored "-Wall"\nint copy(', "how the code is compiled"),
    "a comment for another tool": (b"strcpy(out, name);", b"strcpy(out, name); /* NOLINT */", "silence"),
    "only removed code": (b"    strcpy(out, name);\n", b"", "only removes code"),
    "white space": (b"    strcpy(", b"        strcpy(", "comments and white space"),
}


def changed(old: bytes, new: bytes, cwe: int = 120, protected: tuple[bytes, ...] = ()) -> str:
    assert old in COPY
    changes = {"a.c": FileContents(COPY, COPY.replace(old, new, 1))}
    return check_function(changes, cwe, {"a.c": protected}).reason


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_patch_passes(name: str) -> None:
    assert changed(*RIGHT[name]) == ""


@pytest.mark.parametrize("name", WRONG)
def test_a_patch_that_disables_code_fails(name: str) -> None:
    old, new, words = WRONG[name]

    assert words in changed(old, new)


def test_a_double_free_is_fixed_by_removing_a_call() -> None:
    assert changed(b"    free(p);\n", b"", cwe=415) == ""
    assert "only removes code" in changed(b"    free(p);\n", b"", cwe=120)


def test_a_patch_that_removes_what_another_patch_added_fails() -> None:
    check = b"    if (name == NULL)\n        return -1;\n"
    protected = code_difference(COPY.replace(check, b""), COPY, "c/cpp").added

    assert protected == (b"if (name == NULL)", b"return -1;")
    assert "reverts another patch" in changed(check, b"    log(name);\n", protected=protected)
    assert changed(b"return 1;", b"return p != NULL;", protected=(b"return 0;", b"return -1;")) == ""


def test_rust_functions_are_kept_as_well() -> None:
    before = b"fn copy(p: *const u8) -> u8 {\n    let x = unsafe { *p };\n    x\n}\n"
    after = before.replace(b"    let", b"    return 0;\n    let")
    hidden = before.replace(b"fn copy", b"#[cfg(any())]\nfn copy")

    assert "refuses every input" in check_function({"a.rs": FileContents(before, after)}, 125, {}).reason
    assert "conditional" in check_function({"a.rs": FileContents(before, hidden)}, 125, {}).reason
