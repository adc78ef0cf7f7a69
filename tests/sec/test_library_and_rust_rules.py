"""What stands around moves the confidence of the rules about library functions, secrets and Rust."""

import time

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner
from tests.support.machine import assert_cpu_within

UNCHECKED = "char *a = getenv(b); strlen(a);"
KEY = 'const char *key = "-----BEGIN PRIVATE KEY-----\\n'
MARKER = "unsafe impl<T> Send for A<T> {}"
PATTERN_OF = {
    "getenv(": "getenv_unchecked",
    "rand": "rand_insecure",
    "strtok(": "strtok_nonreentrant",
    "time(": "time_apis_not_threadsafe",
    "inet_": "inet_legacy",
    "gethost": "inet_legacy",
    "chmod(": "open_permissive_perms",
    "umask(": "open_permissive_perms",
    "open(": "open_permissive_perms",
    "password": "hardcoded_secret",
    "key": "hardcoded_secret",
}


def confidence(code: str, pattern: str, *, test: bool = False) -> float:
    """Return that of the surest finding, or 0."""
    rule = RULES_BY_PATTERN[pattern]
    hits = Scanner(rules=[rule]).scan(code.encode(), language=rule.language, test=test).hits
    return max((hit.confidence for hit in hits), default=0.0)


def function(code: str) -> str:
    return f"int f(void)\n{{\n    {code}\n    return 0;\n}}\n"


@pytest.mark.parametrize(
    ("surer", "less"),
    [
        (UNCHECKED, "system(getenv(a));"),
        ("strcpy(a, getenv(b));", "n = strlen(getenv(b)); strcpy(a, getenv(b));"),
        ("a = getenv(b); if (!a) a = c; system(a);", "a = getenv(b); if (!a) a = d(c); system(a);"),
        ("char *a = getenv(b); strcpy(c, a);", "char *a = getenv(b); if (a) { n = strlen(a); strcpy(c, a); }"),
        (UNCHECKED, "char *a = getenv(b); if (a) strlen(a);"),
        (UNCHECKED, "char *a = getenv(b); a = c; strlen(a);"),
        (UNCHECKED, 'char *a = getenv(b); printf("%s", a);'),
        ("char *a = getenv(b); open(a, 0);", "char *a = getenv(b); if (a) open(a, 0);"),
        ("char *a = getenv(b); if (a) open(a, 0);", "char *a = secure_getenv(b); if (a) open(a, 0);"),
        ("char *a = getenv(b); a[0] = c;", "char *a = getenv(b); if (!a) return 0; a[0] = c;"),
        ("session_token = rand();", "srand(time(NULL));"),
        ("srand(time(NULL)); nonce[0] = rand();", "srand(time(NULL)); a = rand();"),
        ("key[0] = rand();", "key = rand() % size;"),
        ("strtok(a, b); pthread_create(c);", "strtok(a, b);"),
        ("a = strtok(b, c); while (a) { strtok(a, d); a = strtok(NULL, c); }", "a = strtok(b, c); strtok(a, d);"),
        ("strtok(a, b);", "strtok_r(a, b, &c); strtok(a, b);"),
        ("a = localtime(&b); c = gmtime(&d); use(a);", "a = localtime(&b); use(a); c = gmtime(&d);"),
        ("a = localtime(&b); c = gmtime(&d); use(a);", "if (e) { a = localtime(&b); } else a = gmtime(&b); use(a);"),
        ("a = localtime(&b); std::mutex m;", "a = localtime(&b);"),
        ("a = localtime(&b); std::mutex m;", "c = *localtime(&b); std::mutex m;"),
        ("f(inet_ntoa(a), inet_ntoa(b));", "f(inet_ntoa(a)); f(inet_ntoa(b));"),
        ("f(inet_ntoa(a), inet_ntoa(b));", "c ? f(inet_ntoa(a)) : f(inet_ntoa(b));"),
        ("a = gethostbyname(b); c = a->h_addr;", "a = gethostbyname(b); if (!a) return 1; c = a->h_addr;"),
        ("a = inet_addr(b);", 'a = inet_addr("10.0.0.1");'),
        ("chmod(a, 0666);", "chmod(a, 01777);"),
        ("chmod(a, 0666);", "open(a, O_CREAT, 0666);"),
        ("umask(0); open(a, O_CREAT, 0640); mkdir(b, 0777);", "mkdir(b, 0777); open(a, O_CREAT, 0640);"),
        ("umask(0);", "a = umask(0); f(); g(); umask(a);"),
        ("umask(0);", "umask(S_IXOTH);"),
        ('db_password = "q8Zt1Lx0Rv5W";', 'db_password = "letmein";'),
        ('db_password = "q8Zt1Lx0Rv5W";', 'db_password = "q8Zt1";'),
        ('db_password = "q8Zt1Lx0Rv5W";', 'db_password = "example1";'),
        (
            KEY + 'MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi8kLr1uWqJ";',
            KEY + 'XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX";',
        ),
    ],
)
def test_context_moves_the_confidence_of_rules_for_c(surer: str, less: str) -> None:
    pattern = next(pattern for mark, pattern in PATTERN_OF.items() if mark in surer)

    assert confidence(function(less), pattern) < confidence(function(surer), pattern) <= 0.95


@pytest.mark.parametrize(
    ("pattern", "surer", "less"),
    [
        (
            "raw_pointer",
            "pub fn f(p: *mut u8) { unsafe { *p = 1 } }",
            "pub unsafe fn f(p: *mut u8) { unsafe { *p = 1 } }",
        ),
        ("raw_pointer", "pub fn f(p: *mut u8) { unsafe { *p = 1 } }", "pub fn f(p: *mut u8) { g(p) }"),
        ("raw_pointer", "fn f() { a as *const u8 as *mut u8; }", "fn f() { a as *const u8 as *mut c_void; }"),
        ("raw_pointer", "fn f() { a as *mut u8; }", "fn f() { /* SAFETY: b */ a as *mut u8; }"),
        ("raw_pointer", "struct A { b: *mut u8 }", "type A = *mut u8;"),
        ("mem_forget", "fn f() { mem::forget(a); }", "fn f(self) { mem::forget(self); }"),
        ("mem_forget", "fn f() { mem::forget(a); }", "fn f() { let b = a.as_mut_ptr(); mem::forget(a); }"),
        ("mem_forget", "fn f() { mem::forget(a); }", "#[bench]\nfn f() { mem::forget(a); }"),
        ("maybe_uninit", "fn f() { MaybeUninit::uninit().assume_init(); }", "fn f() { a.assume_init(); }"),
        ("maybe_uninit", "fn f() { a.assume_init(); }", "fn f() { a.write(1); a.assume_init(); }"),
        ("maybe_uninit", "fn f() { let a: &u8 = mem::zeroed(); }", "fn f() { let a: libc::stat = mem::zeroed(); }"),
        ("extern_c", 'extern "C" fn f(a: *mut u8) {}', 'extern "C" { fn f(a: *mut u8); }'),
        ("extern_c", 'extern "C" fn f(a: *mut A) { unsafe { *a } }', 'extern "C" fn f(a: *mut A) { g(a.as_ref()) }'),
        ("extern_c", 'extern "C" fn f() { a.unwrap() }', 'extern "C" fn f() { catch_unwind(|| a.unwrap()) }'),
        ("unsafe_send_sync", "struct A<T> { b: *mut T }\n" + MARKER, MARKER),
        ("unsafe_send_sync", MARKER, "struct A<T> { b: PhantomData<T> }\n" + MARKER),
        ("unsafe_send_sync", MARKER, "unsafe impl<T: Send> Send for A<T> {}"),
        ("unsafe_send_sync", MARKER, "unsafe impl<T> Send for A<T> where T: Send {}"),
        ("unsafe_send_sync", MARKER, "// never shared\n" + MARKER),
        ("ignored_result", "let _ = a.lock();", "let _ = a.write_all(b);"),
        ("ignored_result", "let _ = a.write_all(b);", "let _ = a.send(b);"),
        ("ignored_result", "let _ = a.read(b);", "// no matter\nlet _ = a.read(b);"),
        ("ignored_result", "fn a() -> Result<(), B> { }\nfn f() { let _ = a(); }", "fn f() { let _ = a(); }"),
        ("unwrap_expect", "let a: u8 = b.parse().unwrap();", "let a = b.unwrap();"),
        ("unwrap_expect", "let a = b.unwrap();", 'let a = Regex::new("b+").unwrap();'),
        (
            "hardcoded_secret_rust",
            'let password = "S3cure!pass9";',
            '#[test]\nfn f() { let password = "S3cure!pass9"; }',
        ),
    ],
)
def test_context_moves_the_confidence_of_rules_for_rust(pattern: str, surer: str, less: str) -> None:
    assert confidence(less, pattern) < confidence(surer, pattern) <= 0.95


def test_declarations_that_bindgen_wrote_are_not_reported() -> None:
    block = 'extern "C" {\n    pub fn f(a: *mut u8);\n}\n'
    written = "/* automatically generated by rust-bindgen 0.69.4 */\n" + block * 3

    assert confidence(written, "extern_c") == confidence(written, "raw_pointer") == 0.0


def test_what_tests_ignore_is_told_only_if_it_matters() -> None:
    assert confidence("let _ = a.send(b);", "ignored_result", test=True) == 0.0
    assert confidence("let _ = a.lock();", "ignored_result", test=True) > 0.6


HOSTILE = [
    ("c/cpp", "while(p=strtok(p,q)){\n"),
    ("c/cpp", "p=getenv(x);f(p);\n"),
    ("c/cpp", "mkdir(p,A);\n#define A 0777\n"),
    ("c/cpp", "t=localtime(x);\n"),
    ("c/cpp", "f(inet_ntoa(x),"),
    ("c/cpp", 'password="abcD1efghijk";\n'),
    ("c/cpp", "nonce=rand();\n"),
    ("rust", "unsafe impl<T> Send for X<T>{}\n"),
    ("rust", "unsafe impl a::"),
    ("rust", "let _ = f();\n"),
    ("rust", "x(.ok();"),
    ("rust", "*const T as *mut "),
    ("rust", "fn f(p: *mut u8){unsafe{*p}}\n"),
]


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(("language", "unit"), HOSTILE)
def test_hostile_repetition_is_looked_at_in_bounded_time(language: str, unit: str) -> None:
    content = (unit * (200_000 // len(unit))).encode()
    began = time.process_time()

    Scanner().scan(content, language=language)

    assert_cpu_within(8, since=began)


@pytest.mark.parametrize(
    "code",
    [
        "let _ = f(",
        "let _ = f(" + "(" * 200,
        "let _ = a;",
        "let _ = a[0];",
        "let _ = (a)(b);",
        "let _ = Some(a);",
        "let _ = (a + b);",
        ".ok();",
        "a" + "(" * 200 + ".ok();",
        "f(" + "a[0]; " * 60 + "b.ok();",
        "}.ok();",
        "a.lock().ok();",
        "let _x = a.send(b).ok();",
        "let _ = vec![a];",
    ],
)
def test_what_is_no_call_or_cannot_be_read_ignores_no_result(code: str) -> None:
    assert confidence(code, "ignored_result") == 0.0


@pytest.mark.parametrize("code", ["a.b().ok();", "x.flush().ok();", "if a { b.c().ok(); }", "let _ = a.b::<C>();"])
def test_a_result_that_goes_nowhere_is_told(code: str) -> None:
    assert confidence(code, "ignored_result") >= 0.4


def test_a_number_that_is_compared_at_once_is_less_of_a_finding() -> None:
    body = "int f(char **argv, struct s *s)\n{\n    s->n = atoi(argv[1]);\n%s\n}\n"

    def sure(rest: str) -> float:
        return max(hit.confidence for hit in Scanner().scan((body % rest).encode(), language="c/cpp").hits)

    assert sure("    if (s->n <= 0) return 1;\n    go(s->n);") < sure("    go(s->n);\n    if (s->n <= 0) return 1;")


def test_a_format_that_a_macro_hands_on_is_no_finding_of_severity_high() -> None:
    for head in ("LOG(x...) printf(x)", "LOG(x, ...) printf(x)", "LOG(x) \\\n  printf(x)"):
        hits = Scanner().scan(f"#define {head}\n".encode(), language="c/cpp").hits
        assert [hit.pattern for hit in hits] == ["format_string"]
        assert hits[0].confidence < 0.6
