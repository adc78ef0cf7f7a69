"""What is done with a variable is read off what stands beside its name."""

import pytest

from jarvis_workers.sec.rules.analysis.call_results import result_of
from jarvis_workers.sec.rules.analysis.mentions import next_mention, uses


def kinds(text: str, name: str = "p") -> list[str]:
    return [use.kind for use in uses(text.encode(), name.encode(), 0, len(text))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{ p = f();", "assignment"),
        ("; char *p = f();", "assignment"),
        ("; char *o = f, *p = f;", "assignment"),
        ("; else p = f();", "assignment"),
        ("; for (T *p = f(); x;) y();", "assignment"),
        ("; char *p;", "declaration"),
        ("; char *o, *p;", "declaration"),
        ("; struct s p;", "declaration"),
        ("; if (p) x();", "test"),
        ("; if (!p) x();", "test"),
        ("; if (a && p) x();", "test"),
        ("; if (NULL == p) x();", "test"),
        ("; if ((p) == NULL) x();", "test"),
        ("; x = p ? 1 : 2;", "test"),
        ("; if (p < 0) x();", "test"),
        ("; if (0 > p) x();", "test"),
        ("; for (i = 0; p; i++) x();", "test"),
        ("; assert(p);", "test"),
        ("; WARN_ON(p);", "test"),
        ("; if (IS_ERR_OR_NULL(p)) x();", "test"),
        ("; ck_assert_ptr_nonnull(p);", "test"),
        ("; p->x = 1;", "dereference"),
        ("; p[0] = 1;", "dereference"),
        ("; *p = 1;", "dereference"),
        ("; else *p = 1;", "dereference"),
        ("; if (x) *p = 1;", "dereference"),
        ("; x = *p;", "dereference"),
        ("; f(x, *p);", "dereference"),
        ("; (p)->x = 1;", "dereference"),
        ("; (*p)[1] = 1;", "dereference"),
        ("; ((struct s *)p)->x = 1;", "dereference"),
        ("; *(int *)p = 1;", "dereference"),
        ("; *(p) = 1;", "dereference"),
        ("; f(&p);", "address"),
        ("; return p;", "return"),
        ("; f(a, p);", "argument"),
        ("; delete p;", "argument"),
        ("; delete [] p;", "argument"),
        ("; x = sizeof(*p);", "other"),
        ("; x = sizeof *p;", "other"),
        ("; x = sizeof(p->x);", "other"),
        ("; x = y * p;", "other"),
        ("; x = p;", "other"),
        ("; x = f(y) * p;", "other"),
    ],
)
def test_a_mention_has_a_kind(text, kind):
    assert kinds(text) == [kind]


def test_members_and_longer_names_are_others():
    assert kinds("; x->p = 1; x.p = 1; pp = 1; p_ = 1; x->p;") == []
    assert kinds("; y.x->p = 1; x->p = 1;", "x->p") == ["assignment"]


def test_an_argument_says_whose_it_is():
    text = b"; f(a, (g(b), p)); delete p; assert_ok(p);"

    assert [use.callee for use in uses(text, b"p", 0, len(text))] == [b"", b"delete", b"assert_ok"]
    assert next(uses(b"; f(g(b), p);", b"p", 0, 13)).callee == b"f"


def test_so_many_mentions_are_read_and_no_more():
    text = b"p; " * 1_000

    assert len(list(uses(text, b"p", 0, len(text)))) == 64


def result(text: str):
    start = text.index("f(")
    return result_of(text.encode(), start, text.index(")", start) + 1)


@pytest.mark.parametrize(
    ("text", "kind", "target", "tested"),
    [
        ("; p = f(1);", "assigned", b"p", False),
        ("; char *p = f(1);", "assigned", b"p", False),
        ("; *p = f(1);", "assigned", b"*p", False),
        ("; char *o = 0, *p = f(1);", "assigned", b"p", False),
        ("; x -> p = (char *) f(1);", "assigned", b"x->p", False),
        ("; T *p = static_cast<T *>(f(1));", "assigned", b"p", False),
        ("; p = (T *) std::f(1);", "assigned", b"p", False),
        ("; if ((p = f(1)) == NULL) x();", "assigned", b"p", True),
        ("; if (!(p = f(1))) x();", "assigned", b"p", True),
        ("; while ((p = f(1))) x();", "assigned", b"p", True),
        ("; if (a && (p = f(1))) x();", "assigned", b"p", True),
        ("; if (auto *p = f(1)) x();", "assigned", b"p", True),
        ("; if (f(1)) x();", "tested", b"", False),
        ("; if ((q = p = f(1)) == NULL) x();", "assigned", b"p", True),
        ("; while ((q = p = f(1))) x();", "assigned", b"p", True),
        ("; q = p = f(1); x();", "assigned", b"p", False),
        ("; if (f(1) == 0) x();", "tested", b"", False),
        ("; return f(1);", "returned", b"", False),
        ("; g(f(1));", "passed", b"", False),
        ("; f(1);", "ignored", b"", False),
        ("; if (x) f(1);", "ignored", b"", False),
        ("; else f(1);", "ignored", b"", False),
        ("; (void) f(1);", "voided", b"", False),
        ("; x = 1 + f(1);", "other", b"", False),
    ],
)
def test_the_result_of_a_call_goes_somewhere(text, kind, target, tested):
    assert result(text) == (kind, target, tested)


def test_a_call_whose_end_is_not_in_sight_is_read_as_far_as_it_goes():
    assert result_of(b"; p = f(1", 6, None) == ("assigned", b"p", False)
    assert result_of(b"; f(1", 2, None).kind == "ignored"


def test_the_name_of_a_type_is_no_mention_of_a_variable():
    assert kinds("; struct p *q; enum p r; p = q;") == ["assignment"]


def test_the_next_mention_is_of_the_whole_name():
    assert next_mention(b"pp x->p p_ p;", b"p", 0, 13) == 11
    assert next_mention(b"pp x->p p_ p;", b"p", 0, 11) == -1
    assert next_mention(b"pp " * 1_000 + b"p", b"p", 0, 3_001) < 3_000
