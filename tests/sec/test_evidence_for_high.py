"""What is at high has something that speaks for it; what merely looks alike is less sure."""

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.sec.severity import severity_of


def severity(pattern: str, code: str, language: str = "c/cpp", *, test: bool = False) -> str:
    hits = Scanner(rules=[RULES_BY_PATTERN[pattern]]).scan(code.encode(), language=language, test=test).hits
    return severity_of(max(hit.confidence for hit in hits)) if hits else "none"


def in_function(body: str) -> str:
    return f"int f(char *s, int n, struct x *x)\n{{\n{body}\n}}\n"


@pytest.mark.parametrize(
    ("pattern", "body", "instead"),
    [
        (
            "unsafe_api",
            'char *e = getenv("A"); sprintf(x->b, "%s", e);',
            'char *e = getenv("A"); char *b = realloc(x->b, strlen(e) + 1); sprintf(b, "%s", e);',
        ),
        (
            "unsafe_api",
            'char *e = argv[1]; sprintf(x->b, "%s", e);',
            'int e = atoi(argv[1]); sprintf(x->b, "%s %d", x->c, e);',
        ),
        ("unsafe_api", "char *p = x->p; strcpy(p, argv[1]);", "char *p = malloc(n + strlen(*argv)); strcpy(p, *argv);"),
        ("command_execution", 'sprintf(c, "ls %s", s); system(c);', 'sprintf(c, "ls %s", x->dir); system(c);'),
        (
            "command_execution",
            'sprintf(c, "ls %s", s); system(c);',
            'sprintf(c, "ifconfig %s", text_of(s)); system(c);',
        ),
        (
            "command_execution",
            'char *d = getenv("D"); sprintf(c, "ls %s", d); system(c);',
            'char *d = getcwd(0, 0); sprintf(c, "ls %s", d); system(c);',
        ),
        (
            "realloc_assign_back",
            'x->p = realloc(x->p, n);\nif (x->p == NULL) {\n    complain("no room for %d", n);\n    return 1;\n}',
            'x->p = realloc(x->p, n);\nif (x->p == NULL) {\n    complain("no room for %d", n);\n    exit(1);\n}',
        ),
        (
            "realloc_assign_back",
            "x->p = realloc(x->p, n); use(x->p != 0);",
            "x->p = realloc(x->p, n); ENSURE(x->p != 0);",
        ),
        ("possible_null_deref", 'char *p = strtok(s, ","); p[0] = 0;', 'char *p = strsep(&s, ","); p[0] = 0;'),
        (
            "possible_null_deref",
            "char *p = strchr(s, 58); p[0] = 0;",
            "struct y *p = g_hash_table_lookup(x->t, s); p->n = 0;",
        ),
        (
            "possible_null_deref",
            "FILE *p = fopen(s, s); fclose(p);",
            "FILE *p; if (NULL == (p = fopen(s, s))) return 1; fclose(p);",
        ),
        ("possible_null_deref", "char *p = getenv(s); n = p[0];", "char *p = getenv(s); return (p) ? p[0] : 0;"),
        (
            "possible_null_deref",
            'struct y *p = dlsym(x->h, "go"); p->n = 0;',
            'struct y *p = dlsym(RTLD_NEXT, "go"); p->n = 0;',
        ),
        (
            "malloc_free_mismatch",
            "char *p = malloc(n); fclose(p);",
            "FILE **p = malloc(n); *p = open_it(); fclose(*p);",
        ),
        ("realloc_assign_back", "x->p = realloc(x->p, n);", "s = realloc(s, n); return s;"),
        ("realloc_assign_back", "char *p = NULL; p = realloc(p, n);", "char *p = x->p; p = realloc(p, n);"),
        ("malloc_no_null_check", "x->p = malloc(n); x->p[0] = 1;", "CHKmalloc(x->p = (char *)malloc(n)); x->p[0] = 1;"),
        ("malloc_no_null_check", "x->p = malloc(n); x->p[0] = 1;", "x->p = malloc(n); x->q = &x->p[1]; check(x->q);"),
    ],
)
def test_evidence_makes_high_and_what_speaks_against_it_does_not(pattern: str, body: str, instead: str) -> None:
    assert severity(pattern, in_function(body)) == "high"
    assert severity(pattern, in_function(instead)) != "high"


@pytest.mark.parametrize(
    ("pattern", "body", "instead"),
    [
        ("unsafe_api", 'char b[64]; sprintf(b, "%s/x", s);', 'char b[64]; sprintf(b, "%s/x", x->name);'),
        (
            "unsafe_api",
            'char b[64]; sprintf(b, "%s/x", s);',
            'char b[64]; if (STRLEN(s) > 9) n = 1; sprintf(b, "%s/x", s);',
        ),
        (
            "double_free_and_free_non_heap",
            "free(s);\nlog_returned(n);\nfree(s);",
            "if (n) goto bad;\nfree(s);\ndebug_return_int(n);\nbad:\nfree(s);",
        ),
        ("boundary_funcs", "char b[64]; memcpy(b, s, strlen(s));", "char b[64]; memcpy(b, x->s, strlen(x->s));"),
    ],
)
def test_evidence_of_rules_that_real_code_doubts_makes_medium(pattern: str, body: str, instead: str) -> None:
    assert severity(pattern, in_function(body)) == "medium"
    assert severity(pattern, in_function(instead)) in ("low", "none")


def test_a_safe_public_function_that_follows_a_pointer_is_worse_than_one_within_the_crate() -> None:
    body = "fn first(p: *const u8) -> u8 { unsafe { *p } }"

    assert severity("raw_pointer", f"pub {body}", "rust") == "high"
    assert severity("raw_pointer", body, "rust") == "medium"


def test_tests_may_panic_and_ignore_but_not_lose_a_lock() -> None:
    assert severity("unwrap_expect", "fn f() { a().unwrap(); }", "rust") == "low"
    assert severity("unwrap_expect", "fn f() { a().unwrap(); }", "rust", test=True) == "none"
    assert severity("ignored_result", "fn f() { let _ = a.read(b); }", "rust", test=True) == "none"
    assert severity("ignored_result", "fn f() { let _ = a.lock(); }", "rust", test=True) == "medium"


def test_an_explanation_does_not_hide_unsafe_code_that_follows_a_pointer() -> None:
    explained = "// SAFETY: alive as long as self\nunsafe { *a }\n"
    lines = [hit.line for hit in Scanner().scan((explained * 3).encode(), language="rust").hits]

    assert lines == [2, 4, 6]
