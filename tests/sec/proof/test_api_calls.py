"""Which calls of a harness use the API of a tree, and how their arguments are checked."""

import pytest

from jarvis_workers.sec.proof.api_calls import (
    changed_member,
    checking_code,
    declarations_of,
    internal_use,
    library_headers,
    public_headers,
    read_records,
)
from jarvis_workers.sec.proof.harness_source import header_parts, system_text
from jarvis_workers.sec.proof.proof import CallArgument
from jarvis_workers.sec.proof.structure_members import TreeStructures, sized_members

LISTING = """\
/* compiled from: . */
/* project/./api.h:2:NC */ extern int parse (const unsigned char *, size_t);
/* project/api.h:3:NC */ extern void set (struct state *, const char *, int);
/* project/api.h:4:NC */ extern int log_it (const char *, ...);
/* project/api.h:5:NC */ extern handle_t make (void);
/* made/harness.c:2:NC */ extern int hidden (int);
"""
HEADER = (
    "\nint parse(const unsigned char *data, size_t length);\nvoid set(struct state *s, const char *name, int flags);\n"
)
DECLARED = declarations_of(LISTING)


def internal(name: str, *callers: str, public: tuple[str, ...] = ()) -> str:
    return internal_use({name}, DECLARED, "project", {name: set(callers)}, set(public))


def test_a_function_of_a_header_that_the_tree_does_not_call_is_api() -> None:
    assert internal("parse") == ""
    assert internal("hidden") == "hidden is not declared in a header of the tree"
    assert "any number of arguments" in internal("log_it")
    assert internal("parse", "main") == "parse is internal: main of the tree calls it, and api.h is not a public header"
    assert internal("parse", "main", public=("api.h",)) == ""


def test_functions_whose_result_is_a_pointer_to_a_function_or_an_array_are_declared() -> None:
    listing = """\
/* project/a.h:3:NC */ extern notify_fn (*set_notify (struct state *, notify_fn (*)));
/* project/a.h:4:NC */ extern void (*handler_of (int, void (*)(int)))(int);
/* project/a.h:5:NC */ extern int (*row_of (const struct table *))[4];
/* project/a.h:6:NC */ extern const char *name_of (void (*)(const void *, int), size_t);
"""
    assert {name: (one.result, one.parameters) for name, one in declarations_of(listing).items()} == {
        "set_notify": ("notify_fn (*)", ("struct state *", "notify_fn (*)")),
        "handler_of": ("void (*)(int)", ("int", "void (*)(int)")),
        "row_of": ("int (*)[4]", ("const struct table *",)),
        "name_of": ("const char *", ("void (*)(const void *, int)", "size_t")),
    }


def test_a_list_of_arguments_cannot_be_checked() -> None:
    declared = declarations_of("/* project/a.h:3:NC */ extern int log_list (const char *, __va_list_tag *);\n")
    assert internal_use({"log_list"}, declared, "project", {}, set()) == (
        "log_list takes any number of arguments, which cannot be checked"
    )


def test_public_headers_are_below_include_or_installed() -> None:
    headers = ["include/z/a.h", "src/b.h", "lib/c.h"]
    files = {"CMakeLists.txt": "install(FILES\n  lib/c.h\n  DESTINATION include)", "Makefile": "cc -c src/b.c src/b.h"}
    assert public_headers(headers, files) == {"include/z/a.h", "lib/c.h"}


def test_pointers_are_checked_for_the_length_that_follows() -> None:
    code = checking_code(
        '#include "api.h"', {"parse", "set", "make"}, DECLARED, {"project/./api.h": HEADER, "project/api.h": HEADER}
    )
    assert 'jarvis_memory("parse", 1, a1, (unsigned long)a2 * JARVIS_WIDTH(a1));' in code
    assert 'jarvis_string("set", 2, a2);' in code
    assert 'jarvis_handle("set", 1, (const void *)a1);' in code
    assert "__typeof__(handle_t) jarvis_make(void)" in code


def test_records_are_read_and_other_lines_ignored() -> None:
    assert read_records("parse 1 valid 16 20\nset 2 null 0 0\nnonsense\n") == (
        CallArgument("parse", 1, "", 16, 20),
        CallArgument("set", 2, "null", 0, 0),
    )


def test_a_header_most_of_whose_functions_the_tree_does_not_call_is_public() -> None:
    defined, few, many = {"parse", "set", "make"}, {"parse": {"set"}}, {"parse": {"set"}, "set": {"main"}}
    assert library_headers(DECLARED, "project", few, defined, {"parse"}) == {"api.h"}
    assert library_headers(DECLARED, "project", many, defined, {"set"}) == set()


def test_a_header_whose_functions_are_called_only_in_the_object_that_defines_them_is_public() -> None:
    callers = {"parse": {"set"}, "set": {"make"}, "make": {"hidden"}}
    assert library_headers(DECLARED, "project", callers, {"parse", "set", "make"}, {"hidden"}) == {"api.h"}


@pytest.mark.parametrize(
    ("parameters", "is_checked"),
    [
        ("const char *data, unsigned length", True),
        ("const char *data, unsigned data_len", True),
        ("const char *name, unsigned buflen", True),
        ("const char *, unsigned", True),
        ("const char *name, unsigned flags", False),
        ("const char *version, unsigned stream_size", False),
        ("const char *name, unsigned *length", False),
        ("const char *, int", False),
    ],
)
def test_an_integer_is_a_length_by_its_name(parameters: str, is_checked: bool) -> None:
    kind = "int" if parameters.endswith(" int") else "unsigned int *" if "*length" in parameters else "unsigned int"
    declared = declarations_of(f"/* project/a.h:1:NC */ extern int f (const char *, {kind});\n")
    code = checking_code("", {"f"}, declared, {"project/a.h": f"int f({parameters});\n"})
    assert ('jarvis_memory("f", 1' in code) == is_checked


HEADERS = (
    ("zip.h", "struct stream { char *next_in; int sizes[4]; union { int last; } u; };\ntypedef struct box_s box;\n"),
    ("own.h", "typedef struct { int room, hidden; } queue;\nstruct box_s *box_make(int first);\n"),
)
PUBLIC = TreeStructures.of(HEADERS, lambda _: True)
STRUCTURES = TreeStructures.of(HEADERS, lambda header: header == "zip.h")


def test_members_behind_pointers_are_not_changed_and_others_only_of_public_structures() -> None:
    assert changed_member("s.next_in = in; s.sizes[3] += 1; q.room = 2;", PUBLIC) == ""
    assert changed_member('if (q->used == 3 && s.room <= 4) puts("q->room = 1");', STRUCTURES) == ""
    assert changed_member("s.next_in = in; s.u.last = 3;", STRUCTURES) == ""
    assert "member hidden of a structure that no public" in changed_member("s.next_in = in; q.hidden = 1;", STRUCTURES)
    for code in ("q->room = 9;", "q->room++;", "q[0].room = 9;", "(*q).room |= 9;", "int *r = &q->room;"):
        assert changed_member(code, PUBLIC) == ("in line 1 it changes the member room of a structure behind a pointer")


def test_structures_of_the_harness_and_of_the_system_are_its_own() -> None:
    own = "struct reader { int at; };\nint next(void *user)\n{\n    struct reader *r = user;\n    return r->at++;\n"
    assert changed_member(f"{own}}}\nstruct tm t; t.tm_year = 3; struct reader r; r.at = 0;", STRUCTURES) == ""


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("struct mine { int room; }; void f(struct mine *m) { m->room = 1; }", False),
        ("typedef struct { int room; } mine; void f(mine *m) { m->room = 1; return m->room; }", False),
        ("struct mine { int room; }; void f(void) { struct mine m; m.room = 1; }", False),
        ("struct mine { int room; }; void f(void) { queue m; m.room = 1; }", True),
        ("struct mine { int room; }; void f(queue *m) { m->room = 1; }", True),
        ("struct mine { int room; }; void f(struct mine *m) { g(q->m->room = 1); }", True),
        ("struct mine { int room; }; void f(struct mine *m) { queue *m; m->room = 1; }", True),
    ],
)
def test_members_of_own_structures_may_have_the_names_of_others(code: str, refused: bool) -> None:
    assert bool(changed_member(code, STRUCTURES)) == refused


def test_a_structure_of_the_system_that_a_header_names_is_not_opaque() -> None:
    tree = [("net.h", "int send_to(const struct sockaddr *to);\n")]
    code = "struct sockaddr_in in; send_to((struct sockaddr *)&in);"
    assert changed_member(code, TreeStructures.of(tree, lambda _: True, "struct sockaddr { int family; };")) == ""
    assert "it makes a structure sockaddr" in changed_member(code, TreeStructures.of(tree, lambda _: True))


@pytest.mark.parametrize(
    "code", ["struct box_s { int room; };", "use((box *)&made);", "use((const struct box_s *) &made);"]
)
def test_a_harness_does_not_make_a_structure_whose_members_no_header_declares(code: str) -> None:
    name = "box" if "box *" in code else "box_s"
    assert changed_member(code, PUBLIC) == f"it makes a structure {name}, whose members no header declares"


def test_structures_are_found_in_headers_that_never_close_their_braces() -> None:
    found = TreeStructures.of([("a.h", "struct a { struct b { int one; }; int two;" * 20_000)], lambda _: True)
    assert found.members == {"struct", "b", "a", "int", "one", "two"}


def test_the_parts_of_headers_are_those_between_the_markers_of_lines() -> None:
    text = (
        '# 1 "made/harness.c"\nint x;\n# 1 "project/./a.h" 1\nstruct a {\n'
        '# 90 "project/./a.h"\nint b; };\n# 2 "/usr/c.h" 3\nint c;\n'
    )
    assert list(header_parts(text, "project")) == [("a.h", "struct a {\n"), ("a.h", "int b; };\n")]
    assert system_text(text) == "int c;\n"


def test_members_of_structures_are_checked_in_pairs() -> None:
    header = """
    typedef struct stream_s { const Bytef *next_in; /* input */ unsigned avail_in; unsigned long total; } stream;
    typedef stream FAR *streamp;
    struct head { Bytef *extra; unsigned extra_len, x; unsigned extra_max; char *name; };
    """
    members = sized_members([header])
    assert members == {
        "stream_s": (("next_in", "avail_in"),),
        "stream": (("next_in", "avail_in"),),
        "streamp": (("next_in", "avail_in"),),
        "head": (("extra", "extra_max"),),
    }
    declared = declarations_of("/* project/a.h:1:NC */ extern int f (streamp, struct head *);\n")
    code = checking_code("", {"f"}, declared, {"project/a.h": header})
    assert (
        'if (a1) jarvis_memory("f", 1, a1->next_in, (unsigned long)a1->avail_in * JARVIS_WIDTH(a1->next_in));' in code
    )
    assert 'if (a2) jarvis_memory("f", 2, a2->extra, (unsigned long)a2->extra_max * JARVIS_WIDTH(a2->extra));' in code
