"""Constructs of real C code that hide calls, symbols or their places."""

from pathlib import Path

from tests.source.clang.reading import read_file, read_files, read_source

DEFINING_MACROS = """
#define BODY(x) { return (x) + callee(); }
#define DEFINE(name, x) static int make_##name(void) BODY(x) int name(void) { return make_##name(); }
static int callee(void) { return 1; }
DEFINE(one, 1)
DEFINE(two,
       2)
"""


def test_functions_that_nested_macros_define_stand_where_the_macro_is_expanded(tmp_path: Path) -> None:
    unit = read_source(tmp_path, DEFINING_MACROS)

    assert [name for name in unit.names if "one" in name or "two" in name] == ["one", "make_one", "two", "make_two"]
    assert unit.calls("two") == {"make_two"}
    assert unit.calls("make_two") == {"callee"}
    assert tuple(unit.symbol("two").extent)[1:] == (6, 1, 7, 9)
    assert unit.uses("two")["macro"] == unit.uses("make_two")["macro"] == {"DEFINE"}
    assert unit.uses("DEFINE") == {"macro": {"BODY"}}


def test_a_body_that_is_an_argument_of_a_macro(tmp_path: Path) -> None:
    macro = "#define FUNCTION(name, body) int name(void) body\nint x(void);\n"
    unit = read_source(tmp_path, macro + "FUNCTION(it, {\n    return x();\n})\nint after;\n")

    assert unit.calls("it") == {"x"}
    assert tuple(unit.symbol("it").extent)[1:] == (3, 1, 5, 1)


def test_calls_in_macros_parentheses_and_through_addresses_are_direct(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        int a(int), b(int), c(int), d(int), e(int), g(int);
        #define CALL_C(x) c(d(x))
        #define NAMED(f) f
        int it(int x) { return (a)(x) + (*b)(x) + CALL_C(x) + (&e)(x) + NAMED(g)(x); }
        """,
    )

    assert unit.calls("it") == {"a", "b", "c", "d", "e", "g"}
    assert "address" not in unit.uses("it")
    assert not unit.facts("it")


def test_a_call_of_a_function_cast_to_another_type_is_direct(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        typedef struct box box;
        typedef int (*function)(box *);
        int a(int), b(void), c(void), other(void);
        function variable, get(void);
        int it(box *x) {
            return ((int (*)(box *, int (*)(void)))a)(x, other) + ((function)(void *)&b)(x) + ((function)(c))(x);
        }
        int indirect(box *x) { return ((function)variable)(x) + ((int (*)(void))get())(); }
        """,
    )

    assert unit.calls("it") == {"a", "b", "c"} and unit.uses("it")["address"] == {"other"}
    assert not unit.facts("it")
    assert unit.calls("indirect") == {"get"} and unit.facts("indirect") == {"indirect_calls"}


def test_the_function_that_a_generic_selection_selects_is_called(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        int of_int(int); double of_double(double); int of_value(int); int of_long(int);
        #define OF(x) _Generic((x), int: of_int, double: of_double)(x)
        int it(int x) { return OF(x) + _Generic(x, default: of_value(x)); }
        int one_type(int x) { return _Generic(x, int: of_int, long: of_long)(x); }
        """,
    )

    assert unit.calls("it") == {"of_int", "of_value"}
    assert unit.calls("one_type") == {"of_int", "of_long"}
    assert "address" not in unit.uses("it")


def test_functions_whose_address_is_taken(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        #include <stdlib.h>
        static int compare(const void *a, const void *b) { return a < b; }
        static void stop(void) { }
        struct operations { void (*stop)(void); } const operations = { .stop = stop };
        int sort(int *p) { void (*f)(void) = stop; qsort(p, 2, 4, compare); f(); return 0; }
        """,
    )

    assert unit.uses("sort")["call"] == {"qsort"}
    assert unit.uses("sort")["address"] == {"compare", "stop"}
    assert unit.uses("operations") == {"address": {"stop"}, "type": {"operations"}}


def test_a_table_is_read_where_it_is_initialised(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        static int (*table[1])(void);
        int counter;
        static int run(void) { return table[0]() + counter; }
        static int (*table[1])(void) = { run };
        int counter;
        """,
    )

    assert unit.uses("table") == {"address": {"run"}}
    assert unit.symbol("table").extent.line == 5
    assert unit.symbol("table").is_definition
    assert unit.symbol("counter").is_definition
    assert unit.uses("run") == {"global": {"table", "counter"}}


def test_what_attributes_refer_to(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        static int real(void) { return 1; }
        int other_name(void) __attribute__((alias("real")));
        static void drop(int *p) { *p = 0; }
        int it(void) { __attribute__((cleanup(drop))) int a = 1; return a; }
        """,
    )

    assert unit.uses("other_name") == {"address": {"real"}}
    assert unit.symbol("other_name").is_definition
    assert unit.calls("it") == {"drop"}


def test_an_included_source_file_keeps_its_symbols(tmp_path: Path) -> None:
    files = {
        "all.c": '#include "part/one.c"\nint two(void) { return one() + hidden(); }\n',
        "part/one.c": "static int hidden(void) { return 1; }\nint one(void) { return hidden(); }\n",
    }
    unit = read_files(tmp_path, files)
    alone = read_file(tmp_path, "part/one.c")

    assert unit.symbol("hidden").extent.file == b"part/one.c"
    assert unit.symbol("hidden").key == "part/one.c#c:one.c@F@hidden"
    assert unit.unit.includes == (b"part/one.c",)
    assert set(alone.unit.symbols) < set(unit.unit.symbols)
    assert set(alone.unit.references) < set(unit.unit.references)


def test_statics_of_one_name_are_apart(tmp_path: Path) -> None:
    source = (
        "static int helper(void) { return %d; }\nstatic int state;\nint use_%s(void) { return helper() + state; }\n"
    )
    files = {"a/x.c": source % (1, "a"), "b/x.c": source % (2, "b"), "b/y.c": source % (3, "y")}
    read_files(tmp_path, files)
    units = [read_file(tmp_path, name) for name in files]

    assert len({unit.symbol("helper").key for unit in units}) == 3
    assert len({unit.symbol("state").key for unit in units}) == 3
    for unit in units:
        assert {one.target for one in unit.unit.references} == {unit.symbol(name).key for name in ("helper", "state")}


def test_a_static_inline_function_of_a_header_is_one_symbol(tmp_path: Path) -> None:
    files = {
        "a.c": '#include "inc/inline.h"\nint a(void) { return shared(1); }\n',
        "sub/b.c": '#include "../inc/inline.h"\nint b(void) { return shared(2); }\n',
        "inc/inline.h": "static inline int shared(int x) { return x; }\ntypedef struct { int x; } point;\n",
    }
    read_files(tmp_path, files)
    first, second = read_file(tmp_path, "a.c"), read_file(tmp_path, "sub/b.c")

    assert first.symbol("shared") == second.symbol("shared")
    assert first.symbol("point") == second.symbol("point")


def test_a_static_declared_in_a_header_belongs_to_the_file_that_defines_it(tmp_path: Path) -> None:
    files = {
        "a.c": '#include "hooks.h"\nstatic int hook(void) { return 1; }\nint a(void) { return hook(); }\n',
        "b.c": '#include "hooks.h"\nstatic int hook(void) { return 2; }\nint b(void) { return hook(); }\n',
        "hooks.h": "static int hook(void);\n",
    }
    read_files(tmp_path, files)
    first, second = read_file(tmp_path, "a.c"), read_file(tmp_path, "b.c")

    assert first.symbol("hook").key != second.symbol("hook").key
    assert second.symbol("hook").extent.file == b"b.c"


def test_a_type_that_is_incomplete_here_and_complete_elsewhere_has_one_key(tmp_path: Path) -> None:
    files = {
        "user.c": '#include "api.h"\nint user(struct state *s) { return 0; }\n',
        "state.c": '#include "api.h"\nstruct state { int n; };\nint size(state *s) { return s->n; }\n',
        "api.h": "struct state;\ntypedef struct state state;\n",
    }
    read_files(tmp_path, files)
    incomplete, complete = (
        next(one for one in read_file(tmp_path, file).unit.symbols if one.kind == "struct")
        for file in ("user.c", "state.c")
    )

    assert incomplete.key == complete.key
    assert (incomplete.is_definition, complete.is_definition) == (False, True)
    assert (incomplete.extent.file, complete.extent.file) == (b"api.h", b"state.c")


def test_local_declarations_belong_to_their_function(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        int it(int n)
        {
            struct local { int a; } l = { n };
            enum { SMALL = 1 } e = SMALL;
            typedef int number;
            static number kept;
            extern int elsewhere(number), shared;
            return l.a + e + kept + elsewhere(n) + shared;
        }
        """,
    )

    assert unit.names == ["it"]
    assert unit.uses("it") == {"call": {"elsewhere"}, "global": {"shared"}}


def test_types_within_types(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        struct outer { struct inner { int x; } inner; enum color { RED } color; struct { int y; } plain; };
        typedef struct outer *reference;
        union u { reference to; struct inner *in; };
        int it(union u *u) { return u->to->plain.y; }
        """,
    )

    assert unit.names == ["outer", "inner", "color", "reference", "u", "it"]
    assert unit.uses("outer") == {"type": {"inner", "color"}}
    assert unit.uses("u") == {"type": {"reference", "inner"}}
    assert unit.uses("it") == {"type": {"u", "outer"}}


def test_names_that_rust_reserves_or_that_differ_only_by_case(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        "int match(int type, int fn) { return type + fn; }\nint Match(void) { return match(1, 2); }\n"
        "struct impl { int self; };\nint MATCH;\nint r\u00e9sum\u00e9(void) { return Match(); }\n",
    )

    assert unit.names == ["match", "Match", "impl", "MATCH", "r\u00e9sum\u00e9"]
    assert unit.calls("Match") == {"match"}
    assert unit.calls("r\u00e9sum\u00e9") == {"Match"}
    assert len({symbol.key for symbol in unit.unit.symbols}) == 5


def test_macros_in_directives_and_conditions_are_used(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        """
        #define WITH_X 1
        #define SIZE 4
        #define UNUSED 1
        #define TEXT "UNUSED" /* UNUSED */ 'U'
        int it(void)
        {
        #ifdef WITH_X
            int a[SIZE] = { 0 };
        #endif
            return a[0] + TEXT[0];
        }
        """,
    )

    assert unit.uses("it") == {"macro": {"WITH_X", "SIZE", "TEXT"}}
    assert unit.uses("TEXT") == {}


def test_another_definition_of_a_macro_on_the_command_line(tmp_path: Path) -> None:
    unit = read_source(tmp_path, "int it(void) { return LEVEL; }\n", "-DLEVEL=3")

    assert unit.names == ["it"]
    assert unit.uses("it") == {"macro": {"LEVEL"}}
