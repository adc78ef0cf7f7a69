"""Rules about single calls: what the marked examples cannot say."""

import time

import pytest

from jarvis_workers.sec.scanner import Scanner
from tests.machine import assert_cpu_within

SCANNER = Scanner()
WITHIN_SECONDS = 8


def hits(code: str, *, test: bool = False) -> list[tuple[str, int]]:
    return [(hit.pattern, hit.line) for hit in SCANNER.scan(code.encode(), language="c/cpp", test=test).hits]


def test_a_name_that_ends_like_another_is_not_counted_as_that_other():
    code = """\
void f(FILE *out)
{
    if (fputs(a, out) < 0 || fputs(b, out) < 0)
        return;
    puts(a);
}
"""
    assert hits(code) == []


def test_test_vectors_and_broken_algorithms_in_tests_are_no_findings():
    code = """\
static const unsigned char key[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
void f(EVP_CIPHER_CTX *ctx)
{
    EVP_EncryptInit_ex(ctx, EVP_des_cbc(), NULL, key, iv);
}
"""
    assert hits(code) == [("hardcoded_login", 4), ("weak_cipher", 4)]
    assert hits(code, test=True) == []


def test_calls_by_the_name_of_a_macro_are_counted_too():
    code = """\
#define EMIT puts
int f(void)
{
    if (EMIT(a) < 0) return -1;
    if (EMIT(b) < 0) return -1;
    EMIT(c);
    return 0;
}
"""
    assert hits(code) == [("output_unchecked", 6)]


BLOCKS = {
    "access": "    access(p, 1);\n",
    "ask": "    if (puts(a) < 0) x(); puts(b); remove(c); putc(d, e);\n",
    "check": "    x = fgets(a, b, c);\n    if (x < 0) y();\n",
    "hash": "    x(EVP_md5());\n",
    "login": "    HMAC(m, k, 3);\n",
    "name": "    p = mktemp(t);\n",
    "round": "    for (i = 3; i >= 0; i = (i + 1) % 4) {\n",
    "turns": "    while (1) { i++;\n",
    "word": "    cin >> b;\n",
}


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_the_same_again_and_again_takes_time_that_grows_with_it(block):
    code = ("void f(char *p)\n{\n    int i; char b[4];\n" + block * 5_000 + "}\n").encode()
    started = time.process_time()
    SCANNER.scan(code, language="c/cpp")

    assert_cpu_within(WITHIN_SECONDS, since=started)
