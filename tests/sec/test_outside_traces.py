"""The traces of the data-flow rules say whether data from outside lead to a finding."""

import pytest

from jarvis_workers.sec.trace import is_from_outside, trail_of
from tests.sec.following import tell

OUTSIDE = {
    "environment": b'int n = atoi(getenv("N")); char b[8]; b[n] = 0;',
    "stream": b"char b[8], t[99]; fgets(t, 99, stdin); strcpy(b, t);",
    "bytes": b"char b[8]; unsigned n = p[0] << 8 | p[1]; memcpy(b, p + 2, n);",
    "byte order": b"char b[8]; unsigned n = ntohl(*(unsigned *)p); memcpy(b, p + 4, n);",
}
INSIDE = {
    "loop": b"char b[8]; int i; for (i = 0; i <= 8; i++) b[i] = 0;",
    "constant": b"char b[8]; memset(b, 0, 9);",
    "released": b"char *b = malloc(8); if (!b) return 1; free(b); b[0] = 1;",
    "a parameter that is only tested": b"char b[8]; if (argc > 1) memset(b, 0, 9);",
}


def outside(code: bytes) -> list[bool]:
    found = tell(b"int f(int argc, unsigned char *p)\n{\n" + code + b"\nreturn 0;\n}\n")
    return [is_from_outside(trail_of(one.steps, "a.c")) for one in found if one.pattern != "flow_unchecked_null"]


@pytest.mark.parametrize("source", OUTSIDE)
def test_a_trace_tells_data_from_outside(source: str) -> None:
    assert outside(OUTSIDE[source]) == [True]


@pytest.mark.parametrize("source", INSIDE)
def test_a_trace_without_data_from_outside_tells_none(source: str) -> None:
    assert outside(INSIDE[source]) == [False]
