"""Calls that end the program by what they get."""

import pytest

from tests.sec.following import follow, tell

ERROR = b"""
void error(int how, const char *format, ...) { va_list ap; va_start(ap, format); if (how & FATAL) exit(1); }
void *eMalloc(size_t size) { void *p = malloc(size); if (p == NULL) error(HOW, "no memory"); return p; }
"""
COPY = b"""
void *eMalloc(size_t size);
struct node *f(void) { struct node *p = (struct node *) eMalloc(sizeof *p); p->next = 0; return p; }
"""


@pytest.mark.parametrize(
    ("how", "rules"),
    [
        (b"FATAL", []),
        (b"FATAL | PERROR", []),
        (b"PERROR | M_FATAL", []),
        (b"WARNING", ["flow_null_dereference"]),
        (b"0", ["flow_null_dereference"]),
        (b"NON_FATAL", ["flow_null_dereference"]),
        (b"NONFATAL", ["flow_null_dereference"]),
    ],
)
def test_a_fatal_error_does_not_return_by_its_argument(how: bytes, rules: list[str]) -> None:
    hits = follow({"error.c": ERROR.replace(b"HOW", how), "copy.c": COPY})["copy.c"]
    assert [hit.pattern for hit in hits] == rules


def test_a_log_of_a_fatal_error_returns() -> None:
    opens = (
        b'int f(char *s) { FILE *in = fopen(s, "r"); if (!in) HOW(FATAL, s); int c = fgetc(in); fclose(in); return c; }'
    )
    assert [hit.pattern for hit in tell(opens.replace(b"HOW", b"write_log"))] == ["flow_null_dereference"]
    assert not tell(opens.replace(b"HOW", b"report"))


def test_what_copies_text_for_glib_takes_null() -> None:
    code = b"char *f(void) { char *none = NULL; return COPY(none); }\n"
    assert not tell(code.replace(b"COPY", b"g_strdup"))
    assert [hit.pattern for hit in tell(code.replace(b"COPY", b"strdup"))] == ["flow_null_dereference"]


def test_a_constant_that_is_only_passed_on_ends_nothing() -> None:
    code = b"int f(char *s) { char *p = malloc(4); if (!p) HOW(s, MSG_FATAL); p[0] = 1; free(p); return 0; }\n"
    assert [hit.pattern for hit in tell(code.replace(b"HOW", b"send_to"))] == ["flow_null_dereference"]
    assert not tell(code.replace(b"HOW", b"fail_with"))
