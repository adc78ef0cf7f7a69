"""Rules about single calls: what the marked examples cannot say."""

import time

import pytest

from jarvis_workers.sec.scanner import Scanner
from tests.support.machine import assert_cpu_within

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


def confidences(code: str, rule: str) -> list[float]:
    return [hit.confidence for hit in SCANNER.scan(code.encode(), language="c/cpp").hits if hit.pattern == rule]


def function(body: str, parameters: str = "FILE *in, const char *text, int n") -> str:
    return f"void f({parameters})\n{{\n{body}\n}}\n"


def test_a_call_in_the_condition_of_a_for_loop_is_checked():
    loop = "    char line[80];\n    for (n = 1; fgets(line, sizeof(line), in); n++)\n        use(line, n);"
    assert confidences(function(loop), "unchecked_io") == []
    last = "    char line[80];\n    for (n = 1; n < 5; fgets(line, sizeof(line), in))\n        use(line, n);"
    assert confidences(function(last), "unchecked_io") != []


def test_a_text_that_was_set_before_is_read_where_no_line_is():
    read = "    fgets(line, 80, in);\n    use(line);"
    (unset,) = confidences(function("    char line[80];\n" + read), "unchecked_io")
    for empties in ("*line = 0;", "*line = '\\0';", "line[0] = 0;"):
        (was_set,) = confidences(function(f"    char line[80];\n    {empties}\n" + read), "unchecked_io")
        assert was_set < unset - 0.1
    ended = "    char line[80];\n    line[79] = 0;\n"
    assert confidences(function(ended + read), "unchecked_io") == [unset]


def test_a_word_of_a_text_fits_where_the_size_was_computed_for_it():
    scan = '    if (sscanf(text, "%s", {0}) == 1)\n        use({0});'
    (fixed,) = confidences(function("    char word[9];\n" + scan.format("word")), "scanf_no_width")
    own = "    r->word = (char *)get_malloc(n);\n" + scan.format("r->word")
    (allocated,) = confidences(function(own, "const char *text, struct r *r, size_t n"), "scanf_no_width")
    assert allocated < fixed
    between = own.replace("    if (sscanf", "    r->word[0] = r->kind = 0;\n    if (sscanf")
    assert confidences(function(between, "const char *text, struct r *r, size_t n"), "scanf_no_width") == [allocated]
    constant = "    r->word = malloc(SIZE);\n" + scan.format("r->word")
    assert confidences(function(constant, "const char *text, struct r *r"), "scanf_no_width") == [fixed]


def test_a_declaration_counts_in_its_block_only():
    inner = "    int i;\n    if (n) {\n        unsigned i;\n        for (i = 0; i < 3; i++)\n            n++;\n    }\n"
    down = "    for (i = n; i >= 0; i--)\n        use(i);"
    assert confidences(function(inner + down), "endless_loop") == []
    assert confidences(function("    unsigned i;\n" + down), "endless_loop") != []


def test_a_macro_behind_a_directive_may_assign_a_pointer():
    code = "    struct s *p;\n#ifdef X\n    n = 2;\n#endif\n{}    use(p->a);"
    assert confidences(function(code.replace("{}", "")), "uninitialized_ptr_use") != []
    assert confidences(function(code.replace("{}", "    EACH(n, 2)\n")), "uninitialized_ptr_use") == []


def test_a_hash_that_a_protocol_prescribes_is_less_sure():
    hashed = "    MD4_Init(&state);\n    MD4_Update(&state, password, n);"
    (chosen,) = confidences(function(hashed), "weak_hash")
    (prescribed,) = confidences(function(hashed).replace("void f", "void ntlm_answer"), "weak_hash")
    assert prescribed < 0.6 <= chosen


def test_a_command_of_the_environment_is_less_sure_than_a_buffer():
    (runs,) = confidences(function('    char *p = getenv("LOCK");\n    if (p)\n        system(p);'), "getenv_unchecked")
    (copied,) = confidences(
        function('    char b[9], *p = getenv("LOCK");\n    if (p)\n        strcpy(b, p);'), "getenv_unchecked"
    )
    assert runs < 0.7 < copied


def test_a_declaration_within_a_function_is_no_call():
    assert (
        confidences(
            function("    FILE *fin, *popen(const char *, const char *);\n    fclose(fin);"), "possible_null_deref"
        )
        == []
    )
    assert confidences(function('    fin = popen(text, "r");\n    fclose(fin);'), "possible_null_deref") != []


def test_a_copy_to_a_cast_array_is_ended_like_one_to_the_array():
    copied = "    strncpy((char *)name, text, sizeof(name));\n"
    declared = "    unsigned char name[8];\n"
    assert confidences(function(declared + copied + "    use(name);"), "strncpy_no_nul") != []
    assert (
        confidences(function(declared + copied + "    name[sizeof(name) - 1] = 0;\n    use(name);"), "strncpy_no_nul")
        == []
    )


def test_a_dotted_quad_fits_in_sixteen_bytes():
    copy = "    char name[{}];\n    strncpy(name, inet_ntoa(address), sizeof(name));\n    use(name);"
    assert confidences(function(copy.format(16)), "strncpy_no_nul") == []
    assert confidences(function(copy.format(15)), "strncpy_no_nul") != []


def test_a_handler_that_is_popped_releases_its_lock():
    taken = """\
    pthread_cleanup_push((void *)pthread_mutex_unlock, &lock);
    pthread_mutex_lock(&lock);
    n = *text;
    pthread_cleanup_pop({});
    if (n)
        return;
    use(in);
    pthread_mutex_unlock(&lock);"""
    assert confidences(function(taken.format(0)), "deadlock_patterns") != []
    assert confidences(function(taken.format(1)), "deadlock_patterns") == []
