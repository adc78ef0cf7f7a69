"""Members that hold memory, and that the function which releases their structure leaves out."""

import pytest

from jarvis_workers.dataflow import FlowHit
from tests.sec.following import follow, tell

STRUCTURE = b"struct box { char *name; char *path; int used; };\n"
FILLS = b"""
int fill(struct box *b, const char *s) {
    b->name = strdup(s);
    b->path = strdup(s);
    return b->name && b->path;
}
"""
FORGETS = b"""
void box_free(struct box *b) {
    if (!b)
        return;
    free(b->name);
    free(b);
}
"""
WHOLE = STRUCTURE + FILLS + FORGETS


def leaks(code: bytes) -> list[FlowHit]:
    return [hit for hit in tell(code) if hit.pattern == "flow_memory_leak"]


def test_a_member_that_the_release_function_leaves_out_is_named_with_its_allocation() -> None:
    (hit,) = leaks(WHOLE)
    assert WHOLE.splitlines()[hit.line - 1].strip() == b"free(b->name);"
    assert [text for _, _, text in hit.steps] == [
        "b->path holds what strdup(s) returns",
        "box_free releases other members of box, not path",
    ]


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        (b"free(b->name);", b"free(b->name);\n    free(b->path);"),
        (b"free(b->name);", b"free(b->name);\n    release_rest(b);"),
        (b"free(b->name);", b"free(b->name);\n    b->path = NULL;"),
        (b"    free(b);", b"    pool_give(b);\n"),
        (b"b->path = strdup(s);", b"b->path = pool_strdup(b->pool, s);"),
        (b"b->path = strdup(s);", b"b->path = (char *)s;"),
        (b"b->path = strdup(s);", b"b->used = id_new(s);"),
        (b"box_free", b"box_print"),
    ],
)
def test_what_somebody_releases_or_owns_is_not_forgotten(part: bytes, instead: bytes) -> None:
    assert part in WHOLE
    assert not leaks(WHOLE.replace(part, instead))


@pytest.mark.parametrize(
    "elsewhere",
    [
        b"void reset(struct box *b) { free(b->path); b->path = NULL; }\n",
        b"char *take(struct box *b) { char *p = b->path; return p; }\n",
        b"void hand(struct box *b, struct to *t) { t->text = b->path; }\n",
        b"char *give(struct box *b) { return b->path; }\n",
    ],
)
def test_a_member_that_leaves_its_structure_elsewhere_is_not_forgotten(elsewhere: bytes) -> None:
    assert not leaks(WHOLE + elsewhere)


def test_a_member_that_is_only_read_elsewhere_is_forgotten() -> None:
    assert leaks(WHOLE + b"int same(struct box *b, const char *s) { return !strcmp(b->path, s); }\n")


def test_a_callee_may_release_the_member() -> None:
    callee = b"static void end(struct box *one) { wipe(one->path); }\n"
    code = WHOLE.replace(b"free(b->name);", b"free(b->name);\n    end(b);")
    assert not leaks(STRUCTURE + callee + code.removeprefix(STRUCTURE))


def test_the_type_behind_a_name_decides() -> None:
    typed = b"typedef struct box box_t;\n" + WHOLE.replace(b"void box_free(struct box *b", b"void box_free(box_t *b")
    assert leaks(typed)
    assert not leaks(WHOLE.replace(b"void box_free(struct box *b", b"void box_free(struct crate *b"))


def test_a_release_function_need_not_release_the_structure_that_it_is_named_after() -> None:
    assert leaks(WHOLE.replace(b"box_free", b"box_deinit").replace(b"    free(b);\n", b""))
    assert not leaks(WHOLE.replace(b"box_free", b"box_name_free").replace(b"    free(b);\n", b""))


def test_a_member_of_a_member_is_no_other_member_of_the_same_name() -> None:
    code = WHOLE.replace(b"b->path", b"b->at.path").replace(b"char *path", b"struct at at") + (
        b"void other(struct box *b, struct to *t) { t->text = b->from->path; }\n"
    )
    assert leaks(b"struct at { char *path; };\n" + code)


def test_the_structure_may_be_declared_in_another_file() -> None:
    hits = follow({"box.h": STRUCTURE, "a.c": FILLS + FORGETS})["a.c"]
    assert [hit.pattern for hit in hits] == ["flow_memory_leak"]
