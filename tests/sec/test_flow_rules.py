"""What moves the confidence of the rules about results, leaks, threads and locks."""

import time

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scanner
from tests.support.machine import assert_cpu_within, is_within


def confidence(pattern: str, body: str, head: str = "int f(int a, char **argv)") -> float | None:
    """Return how sure the rule is of the first finding in a function."""
    text = f"{head}\n{{\n{body}\n}}\n"
    hits = Scanner("re", [RULES_BY_PATTERN[pattern]]).scan(text.encode(), language="c/cpp").hits
    return hits[0].confidence if hits else None


def sure(pattern: str, body: str, head: str = "int f(int a, char **argv)") -> float:
    found = confidence(pattern, body, head)
    assert found is not None
    return found


def test_rights_that_may_still_be_there_are_worse_than_a_file_that_may_not_be_closed() -> None:
    assert sure("unchecked_io", "setuid(a);") > sure("unchecked_io", "read(a, b, 9);")
    assert sure("unchecked_io", "read(a, b, 9);") > sure("unchecked_io", "fputs(b, file); fclose(file);")


def test_a_count_that_may_be_negative_is_worst_as_an_index() -> None:
    used = "int n = read(a, b, 9);\nb[n] = 0;"

    assert sure("unchecked_io", used) > sure("unchecked_io", "int n = read(a, b, 9);")
    assert confidence("unchecked_io", "int n = read(a, b, 9);\nif (n > 0) b[n] = 0;") is None
    assert confidence("unchecked_io", "if (a) { n = read(a, b, 9); } b[n] = 0;") is None


def test_a_program_that_ends_at_once_cannot_do_more() -> None:
    assert confidence("unchecked_io", "write(a, b, 9); _exit(1);") is None


def test_scanf_into_a_variable_that_has_a_value_is_less_bad() -> None:
    assert sure("unchecked_io", 'int n = 0; sscanf(b, "%d", &n);') < sure("unchecked_io", 'sscanf(b, "%d", &n);')
    assert confidence("unchecked_io", 'int n = -1; sscanf(b, "%d", &n); return n;') is None


def test_a_number_from_outside_is_worse_and_one_that_is_compared_is_better() -> None:
    assert sure("errno_unchecked", "n = strtol(argv[1], 0, 10);") > sure("errno_unchecked", "n = strtol(s, 0, 10);")
    assert sure("errno_unchecked", "n = strtol(s, 0, 10); if (n < 9) g(n);") < sure(
        "errno_unchecked", "n = strtol(s, 0, 10); g(n);"
    )


def test_a_leak_is_surer_where_another_way_gives_the_memory_back() -> None:
    always = 'FILE *p = fopen("a", "r");\nif (!p) return 0;\nif (a) return -1;\nfgetc(p);\nreturn 0;'
    elsewhere = always.replace("return 0;", "return 0;").replace("fgetc(p);", "fclose(p);")

    assert sure("error_path_leak", elsewhere) > sure("error_path_leak", always)


def test_a_leak_is_less_sure_once_somebody_else_has_seen_the_memory() -> None:
    alone = "char *p = malloc(9);\nif (a) return -1;\nfree(p);"

    assert sure("error_path_leak", alone) > sure("error_path_leak", f"char *p = malloc(9);\npeek(p);{alone[19:]}")
    assert confidence("error_path_leak", f"char *p = malloc(9);\nkeep(p);{alone[19:]}") is None


def test_a_leak_in_main_ends_with_the_program() -> None:
    leak = "char *p = malloc(9);\nif (a) return -1;\nfree(p);"

    assert sure("error_path_leak", leak, "int main(void)") < sure("error_path_leak", leak)


@pytest.mark.parametrize(
    "body",
    [
        "char *p = malloc(9); if (a) goto out; free(p); return 0;\nout:\n exit(1);",
        "char *p = malloc(9); if (a) goto out; use(1); free(p); return 0;\nout: free(p); return 1;",
        "a = b = malloc(9); if (a) return 1; free(b);",
        "char *p = malloc(9); q = p; if (a) return 1; free(p);",
        "char *p = malloc(9); g(&p->list); if (a) return 1; free(p);",
        "g_autofree char *p = malloc(9); if (a) return 1; free(p);",
        "int (*open)(int, int) = g; int fd; fd = open(1, 2); if (a) return 1; close(fd);",
        "while ((p = malloc(9))) if (a) return 1; free(p);",
        "int fd = open(a); if (a) return 1; close(fd);",
    ],
)
def test_what_is_given_back_handed_on_or_not_taken_is_no_leak(body: str) -> None:
    assert confidence("error_path_leak", body) is None


def test_a_wait_behind_if_is_surer_than_one_in_an_endless_loop_or_with_a_time_limit() -> None:
    once = "if (!a) pthread_cond_wait(&c, &m);"

    assert sure("cond_wait_no_loop", once) > sure("cond_wait_no_loop", f"while (1) {{ {once} }}")
    assert sure("cond_wait_no_loop", once) > sure("cond_wait_no_loop", once.replace("wait", "timedwait"))


def test_a_thread_whose_handle_is_lost_is_surer_than_one_that_is_kept() -> None:
    lost = sure("thread_leak_no_join", "pthread_t t; pthread_create(&t, NULL, run, 0);")

    assert lost > sure("thread_leak_no_join", "pthread_create(&s->t, NULL, run, 0);")
    assert lost > sure("thread_leak_no_join", "pthread_t t; pthread_create(&t, &attr, run, 0);")
    assert confidence("thread_leak_no_join", "pthread_create(&s->t, NULL, run, 0); pthread_join(s->t, 0);") is None
    assert confidence("thread_leak_no_join", "pthread_create(t, NULL, run, 0);", "int f(pthread_t *t)") is None


@pytest.mark.parametrize(
    "words", ["pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);", "pthread_detach(pthread_self());"]
)
def test_a_thread_that_is_detached_needs_no_join(words: str) -> None:
    assert confidence("thread_leak_no_join", f"pthread_t t; {words} pthread_create(&t, &attr, run, 0);") is None


LEFT = "pthread_mutex_lock(&m);\nif (a)\n    return -1;\npthread_mutex_unlock(&m);\nreturn 0;"


def test_a_lock_that_a_comment_speaks_of_is_less_sure() -> None:
    assert sure("deadlock_patterns", LEFT) > sure("deadlock_patterns", LEFT.replace("if", "/* stays locked */ if"))


@pytest.mark.parametrize(
    "body",
    [
        LEFT.replace("if (a)", "if (!locked)"),
        LEFT.replace("return -1;", "return unlock(a);"),
        LEFT.replace("if (a)", "hand_over(&m); if (a)"),
        "ret = pthread_mutex_lock(&m); if (ret) return 1; g(); pthread_mutex_unlock(&m);",
        "if (pthread_mutex_lock(&m) != 0) return 1; g(); pthread_mutex_unlock(&m);",
        "if (a) pthread_mutex_lock(&m); g(); if (a) return 1; pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); if (a) goto out; pthread_mutex_unlock(&m); return 0;\nout: pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); while (a) pthread_mutex_lock(&m);",
        "pthread_mutex_lock(&p->m); p = p->next; pthread_mutex_lock(&p->m);",
        "pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_lock(&m); pthread_mutex_lock(&m);",
        "pthread_rwlock_rdlock(&m); pthread_rwlock_rdlock(&m);",
    ],
)
def test_a_lock_that_is_given_back_or_may_be_taken_again_is_none(body: str) -> None:
    assert confidence("deadlock_patterns", body) is None


def test_a_function_that_says_that_it_locks_may_keep_the_lock() -> None:
    assert confidence("deadlock_patterns", LEFT, "int lock_it(int a)") is None
    assert confidence("deadlock_patterns", LEFT, "int f(int a) __acquires(m)") is None


@pytest.mark.timing
def test_a_long_function_full_of_calls_stays_cheap() -> None:
    names = ("unchecked_io", "error_path_leak", "thread_leak_no_join", "cond_wait_no_loop", "deadlock_patterns")
    line = b"  mutex_lock(&m); p = malloc(1); pthread_create(&t, 0, p, 0); if (x) goto out; n = read(a, p, n);\n"
    scanner = Scanner("re", [RULES_BY_PATTERN[name] for name in names])
    start = time.process_time()

    scanner.scan(b"void f(void)\n{\n" + line * 200 + b"}\n", language="c/cpp")

    assert_cpu_within(4, since=start)


def seconds(pattern: str, content: bytes) -> float:
    scanner = Scanner("re", [RULES_BY_PATTERN[pattern]])
    scanner.scan(b"", language="c/cpp")
    start = time.process_time()
    scanner.scan(content, language="c/cpp")
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("give_back", [b"  mutex_unlock(&m%d);\n", b""], ids=["given back", "kept"])
def test_locks_cost_no_more_each_where_a_function_takes_many(give_back: bytes) -> None:
    def body(count: int) -> bytes:
        pairs = b"".join((b"  mutex_lock(&m%d);\n" + give_back).replace(b"%d", b"%d" % at) for at in range(count))
        return b"void f(void)\n{\n" + pairs + b"}\n"

    few, many = (min(seconds("deadlock_patterns", body(count)) for _ in range(2)) for count in (500, 8_000))

    assert many < 36 * few


@pytest.mark.timing
@pytest.mark.parametrize("value", [b"(A%d*A%d)", b"(A%d<<62<<62)"])
def test_macros_made_of_one_another_stay_small(value: bytes) -> None:
    chain = b"".join(b"#define A%d %b\n" % (at + 1, value.replace(b"%d", b"%d" % at)) for at in range(2_000))
    use = b"void f(char *s)\n{\n  char b[A2000];\n  memcpy(b, s, A2000);\n}\n"

    assert is_within(seconds("boundary_funcs", b"#define A0 3\n" + chain + use), 2)


def test_closing_what_has_failed_and_writing_a_log_are_small_matters() -> None:
    assert confidence("unchecked_io", "fputs(b, file); fclose(file);\nreturn -1;") is None
    assert confidence("unchecked_io", "fwrite(b, 1, 9, s->logfile);") is None
    assert confidence("unchecked_io", "fwrite(b, 1, 9, s->file);") is not None
