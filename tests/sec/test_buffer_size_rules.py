"""Rules that reckon with sizes: how sure they are, and that no input makes them slow."""

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner
from tests.support.machine import is_within
from tests.support.uncounted import cpu_seconds

PATTERNS = (
    "boundary_funcs",
    "strncpy_no_nul",
    "alloc_size_overflow",
    "alloca_unbounded",
    "vla_usage",
    "unsafe_api",
    "scanf_no_width",
    "realloc_assign_back",
)
SCANNER = Scanner(rules=[RULES_BY_PATTERN[pattern] for pattern in PATTERNS])


def confidence(pattern: str, body: str, head: str = "int f(char *s, unsigned long n, struct x *x)") -> float | None:
    hits = SCANNER.scan(f"{head}\n{{\n{body}\n}}\n".encode(), language="c/cpp").hits
    return max((hit.confidence for hit in hits if hit.pattern == pattern), default=None)


def test_what_is_proven_is_surer_than_what_is_only_open() -> None:
    proven = confidence("boundary_funcs", "char b[8]; memcpy(b, s, 9);")
    measured = confidence("boundary_funcs", "char b[8]; memcpy(b, s, strlen(s));")
    given = confidence("boundary_funcs", "char b[8]; memcpy(b, s, n);")
    read_from_a_field = confidence("boundary_funcs", "char b[8]; memcpy(b, s, x->n);")

    assert proven is not None and measured is not None and given is not None and read_from_a_field is not None
    assert proven > measured > given > read_from_a_field


@pytest.mark.parametrize(
    "check",
    [
        "if (n > sizeof(b)) return 1;",
        "if (sizeof(b) < n) return 1;",
        "if (n + 1 > sizeof(b)) return 1;",
        "n = min(n, sizeof(b));",
        "n = n < 8 ? n : 8;",
        "n %= 8;",
        "assert(n <= 8);",
        "BUG_ON(n > 8);",
    ],
)
def test_a_length_that_was_limited_is_no_finding(check: str) -> None:
    assert confidence("boundary_funcs", "char b[8]; memcpy(b, s, n);") is not None
    assert confidence("boundary_funcs", f"char b[8]; {check} memcpy(b, s, n);") is None


def test_a_loop_over_a_length_does_not_limit_it() -> None:
    assert confidence("boundary_funcs", "char b[8]; for (i = 0; i < n; i++) g(i); memcpy(b, s, n);") is not None


@pytest.mark.parametrize(
    "source",
    ["atoi(s)", "strtoul(s, NULL, 10)", "ntohl(x->n)", "le32_to_cpu(x->n)", "get_unaligned_le32(s)", "rand()"],
)
def test_a_length_from_outside_is_worse(source: str) -> None:
    body = f"char b[8]; unsigned len = {source}; memcpy(b, s, len);"

    assert confidence("boundary_funcs", body) == 0.65


def test_arrays_in_structures_are_known_unless_two_differ() -> None:
    one = "struct a { char name[8]; };\n"
    other = "struct b { char name[16]; };\n"
    head = "int f(char *s, struct a *x)"

    assert confidence("boundary_funcs", "memcpy(x->name, s, 9);", one + head) is not None
    assert confidence("boundary_funcs", "memcpy(x->name, s, 9);", one + other + head) is None


def test_the_size_of_the_smaller_block_counts_where_either_may_be_meant() -> None:
    either = "char a[4], b[8]; char *p; if (n) { p = a; } else { p = b; } memcpy(p, s, 8);"
    after = "char a[4], b[8]; char *p = a; p = b; memcpy(p, s, 8);"

    assert confidence("boundary_funcs", either) is not None
    assert confidence("boundary_funcs", after) is None


def test_a_size_counts_as_it_was_where_the_memory_was_given() -> None:
    grown = "char *p = malloc(n); n = n + 8; memcpy(p, s, n);"

    assert confidence("boundary_funcs", "char *p = malloc(n); memcpy(p, s, n + 1);") is not None
    assert confidence("boundary_funcs", "char *p = malloc(n); memcpy(p, s, n);") is None
    assert confidence("boundary_funcs", grown) is None


@pytest.mark.parametrize(
    ("holds", "target"),
    [
        ('char b[] = "seven";', "b"),
        ('char *b = strdup("five5");', "b"),
        ("char *b = new char[6];", "b"),
        ("char *b = new (std::nothrow) char[6];", "b"),
        ("char *b = static_cast<char *>(calloc(2, 3));", "b"),
        ("char *b = (char *) alloca(sizeof(char) * 6);", "b"),
        ("char *b = kmalloc_array(3, 2, GFP_KERNEL);", "b"),
        ("char *b = realloc(s, 6);", "b"),
        ("char a[8]; char *b = a + 2;", "b"),
        ("char a[8]; char *b = &a[2];", "b"),
        ("char a[3][6];", "a[1]"),
        ("char a[8];", "&a[2]"),
        ("char a[8];", "a + 2"),
        ("struct { char x[6]; } *a;", "b"),
        ("unsigned short a[3];", "a"),
        ("unsigned char b, a[6];", "a"),
        ("char *b = NULL; if (n) b = malloc(6);", "b"),
        ("int v; char w[2]; char b[sizeof v + sizeof(w)];", "b"),
        ("char **a; char b[sizeof(*a) - 2];", "b"),
        ("char a[6]; char b[sizeof a / sizeof a[0]];", "b"),
    ],
)
def test_six_bytes_hold_six_and_not_seven(holds: str, target: str) -> None:
    known = confidence("boundary_funcs", f"{holds} memcpy({target}, s, 7);") is not None

    assert known == ("struct {" not in holds)
    assert confidence("boundary_funcs", f"{holds} memcpy({target}, s, 6);") is None


@pytest.mark.parametrize(
    ("size", "target"),
    [
        ("7", "char *b = unknown(6);"),
        ("7", "char *b = x->b;"),
        ("7", "char *b; if (n) { b = malloc(6); } else { b = s; }"),
        ("7", "char *b = malloc(6); b++;"),
        ("7", "char *b = malloc(6); ++b;"),
        ("7", "char *b = malloc(6); take(&b);"),
        ("n % 7", "char b[6];"),
        ("7", "char *b = malloc(n ? 6 : 7);"),
        ("7", "char *b = malloc();"),
    ],
)
def test_what_is_not_known_is_not_called_too_small(size: str, target: str) -> None:
    assert confidence("boundary_funcs", f"{target} memcpy(b, s, {size});") is None


def test_a_variable_that_a_loop_counts_up_does_not_stay_what_it_was() -> None:
    loop = "char b[8]; size_t len = 8, pos = 0; while (more(x)) { pos += snprintf(b + pos, len - pos, s); }"

    assert confidence("boundary_funcs", loop) is None


def test_arrays_outside_of_functions_are_known() -> None:
    head = "static char table[4][8];\nchar line[6];\nint f(char *s)"

    assert confidence("boundary_funcs", "memcpy(line, s, 7);", head) is not None
    assert confidence("boundary_funcs", "memcpy(line, s, 6);", head) is None
    assert confidence("boundary_funcs", "memcpy(table[1], s, 9);", head) is not None


@pytest.mark.parametrize(
    ("length", "fits"),
    [
        ("strlen(s)", None),
        ('strlen("seven")', True),
        ("strlen(t)", True),
        ("strlen(cut)", True),
        ("strlen(filled)", None),
        ("strlen(LONG)", False),
    ],
)
def test_the_length_of_a_string_is_known_where_it_was_made(length: str, fits: bool | None) -> None:
    head = '#define LONG "longer than that"\nint f(char *s, char *cut)'
    made = 'char b[6], filled[40]; char *t = "five5"; t = "four"; cut[5] = 0; read_in(filled);'
    found = confidence("boundary_funcs", f"{made} memcpy(b, s, {length} + 1);", head)

    assert {True: found is None, False: found == 0.95, None: found == 0.7}[fits]


@pytest.mark.parametrize(
    ("call", "fits"),
    [
        ('"%d", i', True),
        ('"%ld", n', False),
        ('"%hhu%c%%", i, i', True),
        ('"%#x", i', True),
        ('"%5s", "ab"', True),
        ('"%20s", "ab"', False),
        ('"%.5s", s', True),
        ('"%.*s", i, s', False),
        ('"%*d", i, i', False),
        ('"%p", s', False),
        ('"%f", d', False),
        ('"%s", short_one', True),
        ('"%s", n ? "yes" : "no"', True),
        ('"%.3s", "a longer one"', True),
        ('"%" PRIu64, n', False),
        ('"%s", s', False),
        ("s, i", False),
    ],
)
def test_a_printed_text_that_fits_is_no_finding(call: str, fits: bool) -> None:
    found = confidence("unsafe_api", f"char b[12], short_one[8]; sprintf(b, {call});")

    assert (found is None) == fits


def test_formats_in_wide_letters_and_of_va_list_are_left_alone() -> None:
    assert confidence("unsafe_api", 'char b[4]; vsprintf(b, "%d", args);') == 0.4
    assert confidence("scanf_no_width", 'wchar_t b[4]; swscanf(w, L"%8ls", b);') is None


@pytest.mark.parametrize(
    ("ending", "ended"),
    [
        ("puts(b);", False),
        ("b[7] = 0;", True),
        ("b[sizeof(b) - 1] = '\\0';", True),
        ("*(b + 7) = 0;", True),
        ("memset(b, 0, sizeof(b));", True),
        ("other[7] = 0;", False),
    ],
)
def test_a_copy_that_is_ended_behind_it_is_no_finding(ending: str, ended: bool) -> None:
    found = confidence("strncpy_no_nul", f"char b[8], other[8]; strncpy(b, s, sizeof(b)); {ending}")

    assert (found is None) == ended


@pytest.mark.parametrize(
    "line",
    [
        "char b[8]; unsigned char n = x->n; char big[255]; memcpy(big, s, n);",
        "char b[8]; memcpy(b, s, n, 3);",
        "char b[8]; snprintf(b);",
        "char b[8]; memcpy(b, s, n ? 4 : 8);",
        "char b[8]; memcpy(b, s, strlen(b));",
        "char *b = made_by(n); memcpy(b, s, n);",
        "unsigned len = ntohl(x->n); char *b = made_by(len); memcpy(b, s, len);",
        "char b[8]; fgets(b, n, x);",
        "char b[8]; read(fd, b, sizeof(b));",
        "char b[8]; x->n = read(fd, b, sizeof(b)); b[x->n] = 0;",
        "char b[8]; n = read(fd, b, sizeof(b)); if (n >= 8) n = 7; b[n] = 0;",
        "char b[8]; strncpy(b, s, sizeof(b)); b[7] = 0;",
    ],
)
def test_what_an_experienced_reader_would_let_pass(line: str) -> None:
    assert confidence("boundary_funcs", line) is None


def test_a_target_that_the_caller_gives_with_its_size_is_the_callers_affair() -> None:
    text = "static int f(char *to, char *s, unsigned long n)\n{\nmemcpy(to, s, n);\n}\n"
    caller = "int g(char *s)\n{\nchar b[8];\nreturn f(b, s, 8);\n}\n"

    assert SCANNER.scan((text + caller).encode(), language="c/cpp").hits == ()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("char b[8]; strncpy(b, s, strlen(s)); puts(b);", True),
        ("char b[8]; strncpy(b, s, n); puts(b);", False),
        ("char b[8]; strncpy(b, LABEL, sizeof(b)); puts(b);", False),
        ("char b[8]; strncpy(b, s, sizeof(b), 1);", False),
        ('strncpy("x", s, 8);', False),
        ("char b[8]; return readlink(s, b, 8);", False),
        ("char b[8]; readlinkat(fd, s, b, 8); puts(b);", True),
        ("static char b[8]; strncpy(b, s, 7); puts(b);", False),
        ("char *b = calloc(1, 8); strncpy(b, s, 7); puts(b);", False),
    ],
)
def test_a_copy_may_end_for_other_reasons(line: str, found: bool) -> None:
    assert (confidence("strncpy_no_nul", line) is not None) == found


def test_a_stack_allocation_that_was_limited_is_less_sure() -> None:
    free, limited = (
        confidence("alloca_unbounded", "p = alloca(n);"),
        confidence("alloca_unbounded", "if (n > 64) return 1; p = alloca(n);"),
    )

    assert free is not None and limited is not None
    assert free > limited


def test_windows_line_ends_change_nothing() -> None:
    text = b"#define N 8\nint f(char *s)\n{\n    char b[N];\n    memcpy(b, s,\n        N + 1);\n}\n"

    unix = SCANNER.scan(text, language="c/cpp")
    windows = SCANNER.scan(text.replace(b"\n", b"\r\n"), language="c/cpp")

    assert [(hit.line, hit.confidence) for hit in unix.hits] == [(hit.line, hit.confidence) for hit in windows.hits]
    assert unix.hits


HOSTILE = {
    "sizes that name each other": "char a[sizeof(b) * sizeof(b)]; char b[sizeof(a) * sizeof(a)]; memcpy(a, s, 9);\n"
    * 300,
    "an array of its own size": "char a[sizeof(a)]; memcpy(a, s, sizeof(a) + 1);\n" * 300,
    "a cut at its own length": "s[strlen(s)] = 0; memcpy(s, s, strlen(s));\n" * 300,
    "many assignments": "p = q; q = p;\n" * 3_000 + "memcpy(p, q, n);\n" * 300,
    "many branches": "if (n) { p = a; }\n" * 3_000 + "memcpy(p, q, n);\n" * 300,
    "many short names": "n n n n " * 10_000 + "memcpy(a, b, n);\n" * 300,
    "deep parentheses": "memcpy(" + "(" * 3_000 + "a, b, c);\n",
    "measured parameter of a static function": "char b[8]; strcpy(b, s); memcpy(b, s, strlen(s)); free(array);\n"
    * 2_000,
    "calls of itself": "f(s, n, x); memcpy(s, x, n);\n" * 500,
    "brackets without end": "char a[" * 5_000 + "n];" * 5_000,
    "formats without end": 'sprintf(a, "' + "%d%*.*s" * 3_000 + '", 1);\n',
    "one long line": "char b[n]; " * 8_000,
    "spaces": "char b[n" + " " * 50_000 + "];\n" + "memcpy(b, " + " " * 3_000 + "s, n);" * 100,
}


def scan_hostile(what: str) -> None:
    text = f"static int f(char *s, unsigned long n, struct x *x)\n{{\n{HOSTILE[what]}\n}}\n".encode()
    SCANNER.scan(text, language="c/cpp")


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("what", HOSTILE)
def test_no_input_takes_long(what: str) -> None:
    assert is_within(cpu_seconds(scan_hostile, what), 5)


@pytest.mark.parametrize(
    "body",
    [
        "if (sizeof(b) > n) strcpy(b, t);",
        "if (n >= sizeof b) return 1; strcpy(b, t);",
        "if (sizeof(b) - 4 > n) strcpy(b + 4, t);",
        "if (n < 8) { strncpy(b, t, n); return 1; } strcpy(b, t);",
        "n = strlen(t) + 4; put(x, n); /* far away */ use(n); strcpy(x->room, t);",
        "char *m = malloc(n + 1); if (!m) return 1; m[0] = 0; use(&m[n]); strcpy(m, t);",
        "char *m = malloc(n + 1); if (!m) return 1; strcpy(s, m);",
        "strcpy(x->room, x->name);",
        "sprintf(b, t, n);",
    ],
)
def test_a_copy_that_somebody_measured_is_not_high(body: str) -> None:
    head = "struct x { char *room; char name[LONGEST]; };\nint f(char *s, unsigned long n, struct x *x)"
    found = confidence("unsafe_api", f"char b[8]; char *t = text(s); {body}", head)

    assert found is not None and found < 0.6


@pytest.mark.parametrize(
    "body",
    [
        "strcpy(b, s);",
        "strcpy(b, s); n = strlen(s);",
        "memset(b, 0, sizeof(b)); strcpy(b, s);",
        "snprintf(b, 8, x); strcpy(b, s);",
        "if (n > sizeof(x)) return 1; strcpy(b, s);",
        "strcpy(to, s);",
        'sprintf(b, "<%s>", s);',
    ],
)
def test_a_copy_from_a_caller_that_nobody_measured_is_medium(body: str) -> None:
    head = "int f(char *s, char *to, unsigned long n, struct x *x)"

    assert 0.6 <= (confidence("unsafe_api", f"char b[8]; {body}", head) or 0) < 0.8


@pytest.mark.parametrize(
    "body", ['char *m = getenv("HOME"); strcpy(x->room, m);', "strcpy(x->room, argv[1]);", "gets(s);"]
)
def test_a_copy_from_outside_that_nobody_measured_is_high(body: str) -> None:
    assert (confidence("unsafe_api", body, "int f(char *s, struct x *x)") or 0) >= 0.8


@pytest.mark.parametrize(
    "body",
    [
        "strcpy(b, t);",
        "strcpy(x->room, t);",
        "strcpy(s, t);",
        "strcpy(x->room, s);",
        "char *m = malloc(100); if (!m) return 1; fill(m); strcpy(b, m);",
        "char *m = pool_alloc(x, n + 1); strcpy(m, s);",
        'sprintf(b, "<%s>", t);',
    ],
)
def test_a_copy_of_which_nothing_is_known_is_not_high(body: str) -> None:
    found = confidence("unsafe_api", f"char b[8]; char *t = text(s); {body}")

    assert found is not None and found < 0.6


@pytest.mark.parametrize(
    "body",
    [
        'char *m = n ? "one" : "two"; strcpy(x->room, m);',
        'strcpy(x->room, "text");',
        'sprintf(x->room, "%d.%02X", a, c);',
        "if (strlen(t) > LONGEST) return 1; strcpy(x->room, t);",
        "n = strlen(t); if (n + 3 > LONGEST) return 1; strcpy(x->room, t);",
        "if (!(x->room = xmalloc(strlen(t) + 2))) return 1; strcpy(x->room, t);",
        "n = strlen(t) + 1; x->room = xmalloc(n); strcpy(x->room, t);",
    ],
)
def test_a_constant_and_a_text_whose_length_was_compared_or_allocated_are_no_findings(body: str) -> None:
    assert confidence("unsafe_api", f"char *t = text(s); {body}") is None


@pytest.mark.parametrize(
    "body",
    [
        "if (strlen(t) > 0) strcpy(x->room, t);",
        "n = strlen(t); x->room = xmalloc(n); strcpy(x->room, t);",
        "char b[N]; x->room = xmalloc(strlen(t) + 1); strcpy(b, t);",
        "x->room = xmalloc(strlen(other) + 1); strcpy(x->room, t);",
    ],
)
def test_a_length_that_limits_nothing_does_not_excuse_a_copy(body: str) -> None:
    assert confidence("unsafe_api", f"char *t = text(s); {body}") is not None


@pytest.mark.parametrize(
    ("pattern", "copy", "given", "other"),
    [
        ("unsafe_api", "strcpy(b, s);", '"short"', "x->name"),
        ("unsafe_api", "strcpy(b, s);", "array", "pointer"),
        ("boundary_funcs", "memcpy(b, s, strlen(s));", '"short"', "x->name"),
        ("format_string", "printf(s);", '"plain text"', "x->name"),
    ],
)
def test_what_all_callers_in_the_file_pass_tells_of_a_parameter(
    pattern: str, copy: str, given: str, other: str
) -> None:
    def surest(static: str, *passed: str) -> float:
        calls = "".join(f"f({one}, x); " for one in passed)
        head = f"{static}int f(char *s, struct x *x)\n{{\nchar b[8];\n{copy}\n}}\nchar array[SIZE];\n"
        text = f"{head}int g(struct x *x, char *pointer)\n{{\n{calls}\n}}\n"
        hits = Scanner(rules=[RULES_BY_PATTERN[pattern]]).scan(text.encode(), language="c/cpp").hits
        return max((hit.confidence for hit in hits), default=0)

    assert surest("", given, given) < 0.65 <= surest("", given, other)
    assert surest("static ", given, given) < 0.65 <= surest("static ", other)


def test_a_text_that_all_callers_of_a_static_function_keep_short_fits() -> None:
    function = "int f(const char *s)\n{\nchar b[8];\nmemcpy(b, s, strlen(s));\n}\n"
    caller = 'int g(void)\n{\nreturn f("one") + f("seven");\n}\n'
    found = [
        {hit.pattern for hit in SCANNER.scan(text.encode(), language="c/cpp").hits} & {"boundary_funcs"}
        for text in (f"static {function}{caller}", f"{function}{caller}", f"static {function}{caller}int (*h)() = f;\n")
    ]

    assert found == [set(), {"boundary_funcs"}, {"boundary_funcs"}]


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('char *m = malloc(8 * n + 1); strncat(m, "&amp;", n);', False),
        ('char b[4] = ""; strncat(b, "ninety", n);', True),
        ('char b[16] = ""; strncat(b, "ninety", n);', False),
    ],
)
def test_a_literal_says_how_much_is_appended(body: str, wrong: bool) -> None:
    assert (confidence("boundary_funcs", body) is not None) is wrong


def test_a_measured_member_may_be_an_array() -> None:
    known = confidence("boundary_funcs", "char b[64]; memcpy(b, s, strlen(s));")
    member = confidence("boundary_funcs", "char b[64]; memcpy(b, x->name, strlen(x->name));")

    assert known is not None and member is not None and member < 0.65 <= known


def test_a_copy_that_fills_up_with_zeros_after_a_look_at_the_size_is_less_sure() -> None:
    copy = "char b[8]; {} strncpy(b, s, sizeof(b));"
    open_one = confidence("strncpy_no_nul", copy.format(""))
    looked = confidence("strncpy_no_nul", copy.format("if (strlen(s) < sizeof(b))"))

    assert open_one is not None and looked is not None and looked < open_one - 0.1


def test_a_copy_in_a_macro_is_judged_where_nobody_sees_what_it_is_given() -> None:
    macro = "#define PUT(s) \\\n do { \\\n strcpy(p, (s)); \\\n } while (0)\n"

    assert [hit.confidence for hit in SCANNER.scan(macro.encode(), language="c/cpp").hits] == [0.4]
