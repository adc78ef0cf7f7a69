"""Types of a project as Rust: unique names over units, and layouts that rustc asserts."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.rust_types import ProjectTypes, is_translatable, project_types, type_definitions
from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers
from tests.support.servers import missing

# Every construct of types; `fill` sets bit-fields, whose bytes Rust must agree on.
CONSTRUCTS = """
typedef struct __attribute__((packed)) { char a; int b; double c; unsigned d:5, e:27; } P;
struct __attribute__((aligned(32))) big { int x; };
struct __attribute__((packed, aligned(4))) both { char a; int b; };
struct holds { char c; struct big g; long double ld; double _Complex cd; };
struct moved { char a; char b __attribute__((aligned(8))); char c; };
struct bits { int :3; signed a:5; _Bool b:1; unsigned long long c:40; int :0; unsigned short d:9; char e;
              enum { X, Y = 5 } f:4; long long whole:64; };
union choice { unsigned a:3; int b:20; char c[5]; };
union views { double d; struct { int lo, hi; }; struct { short s; } named; };
struct flexible { int n; struct pair { int a, b; } pairs[]; };
struct empty {};
struct words { int type, self, match; void (*fn)(int, ...); int (*old)(); int (*rows)[3]; int (*any)[]; char **argv;
               const char *const *cc; unsigned struct_:2, impl:3; int anon_0; struct { int inner; }; };
struct Option { int x; };
struct u8 { int y; };
struct node { struct node *next; struct opaque *o; __int128 wide; };
typedef int v4 __attribute__((vector_size(16)));
struct vectors { char c; v4 v; _Atomic int at; };
typedef struct { int unnamed; } *Pointer;
struct same { int a; };
typedef struct { long l; } same;
#pragma pack(push, 2)
struct packed2 { char a; int b; double d; };
#pragma pack(pop)
void fill(struct bits *g, union choice *u, P *p) {
    g->a = -3; g->b = 1; g->c = 0xabcdef0123ull; g->d = 300; g->f = Y; g->whole = -2; u->b = -77777; p->e = 0x5555555;
    g->a += g->d + (u->b < 0);
}
void use(struct both *, struct holds *, struct moved *, union views *, struct flexible *, struct empty *,
         struct words *, struct Option *, struct u8 *, struct node *, struct vectors *, Pointer, struct same *,
         same *, struct packed2 *);
void user(void) { struct same { char local; } s = {1}; (void)s; (void)use; }
"""
C_MAIN = """
#include <stdio.h>
#include <string.h>
static void show(const void *p, int n) { while (n--) printf("%02x", *(const unsigned char *)p++); puts(""); }
int main(void) {
    struct bits g; union choice u; P p;
    memset(&g, 0, sizeof g); memset(&u, 0, sizeof u); memset(&p, 0, sizeof p);
    fill(&g, &u, &p); show(&g, sizeof g); show(&u, sizeof u); show(&p, sizeof p);
}
"""
RUST_MAIN = """
#![allow(warnings)]
mod types;
use types::*;
fn show<T>(value: &T) {
    let bytes = value as *const T as *const u8;
    for index in 0..core::mem::size_of::<T>() { print!("{:02x}", unsafe { *bytes.add(index) }); }
    println!();
}
fn main() {
    unsafe {
        let (mut g, mut u, mut p): (bits, choice, P) = core::mem::zeroed();
        g.set_a(-3); g.set_b(true); g.set_c(0xabcdef0123); g.set_d(300); g.set_f(5); g.set_whole(-2); u.set_b(-77777);
        p.set_e(0x5555555);
        g.set_a(g.a() + g.d() as i32 + (u.b() < 0) as i32);
        show(&g); show(&u); show(&p);
        assert!(g.whole() == -2 && g.b() && g.f() == 5 && p.e() == 0x5555555 && g.c() == 0xabcdef0123);
    }
}
"""


def read(root: Path, **sources: str) -> list[UnitDefinitions]:
    units = []
    for name, source in sources.items():
        (root / f"{name}.c").write_text(source)
        command = CompileCommand(f"{name}.c".encode(), b"", ())
        units.append(read_definitions(root, command, builtin_headers(None)))
    return units


def names_of(types: ProjectTypes) -> set[str]:
    return set(types.names.names.values())


def test_the_complete_definition_of_a_record_wins_over_units(tmp_path):
    units = read(
        tmp_path,
        a="struct s; void f(struct s *p) { (void)p; }",
        b="struct s { int x; }; void g(struct s *p) { p->x = 1; }",
    )

    types = project_types(units)

    assert names_of(types) == {"s"}
    assert "pub x: i32" in type_definitions(types)


def test_different_records_of_one_name_are_told_apart_by_file(tmp_path):
    header = "struct inner; struct outer { struct inner *p; };"
    units = read(
        tmp_path,
        a=f"{header} struct inner {{ int x; }}; int f(struct outer *o) {{ return o->p->x; }}",
        b=f"{header} struct inner {{ double y; }}; double g(struct outer *o) {{ return o->p->y; }}",
        c=f"{header} void h(struct outer *o) {{ (void)o; }}",
    )

    types = project_types(units[::-1])

    assert names_of(types) == {"inner", "b__inner", "outer", "b__outer"}
    pointers = [types.of(unit).rust_type(unit.definitions[0].type.parameters[0]) for unit in units]
    assert pointers == ["*mut outer", "*mut b__outer", "*mut outer"]
    assert type_definitions(types) == type_definitions(project_types(units))


def test_records_without_a_name_are_named_by_typedef_field_or_place(tmp_path):
    source = """
typedef struct { int a; } T;
typedef struct { int b; } *P;
static struct { struct { int d; } *field; union { int e; }; } here[1];
int f(T *t, P p) { return t->a + p->b + here[0].field->d + here[0].e; }
"""
    types = project_types(read(tmp_path, u=source))

    assert names_of(types) == {
        "T",
        "anonymous_u_3",
        "anonymous_u_4",
        "anonymous_u_4_field",
        "anonymous_u_4_anon_0",
    }


def test_fields_are_named_by_record_and_number(tmp_path):
    (unit,) = read(tmp_path, u=CONSTRUCTS)
    names = project_types([unit]).of(unit)

    def fields(record: str) -> list[str]:
        (key,) = (key for key, one in unit.records.items() if one.name == record)
        return [names.field_name(key, number) for number in range(len(unit.records[key].fields))]

    assert fields("words") == [
        *("r#type", "self_", "r#match", "r#fn", "old", "rows", "any", "argv", "cc", "struct_", "impl_"),
        *("anon_0", "anon_0_"),
    ]
    assert fields("bits") == ["", "a", "b", "c", "", "d", "e", "f", "whole"]
    assert fields("both") == ["", ""]


def test_what_rust_lacks_is_not_translatable(tmp_path):
    (unit,) = read(tmp_path, u="long double f(int n) { int a[n]; return sizeof a; } int g(char **p) { return **p; }")
    f, g = unit.definitions

    assert not is_translatable(f.type)
    assert not is_translatable(unit.types["int[n]"])
    assert is_translatable(g.type)


@pytest.mark.slow
def test_rustc_confirms_every_layout_and_bit_fields_agree_with_c(tmp_path):
    (unit,) = read(tmp_path, u=CONSTRUCTS)
    text = type_definitions(project_types([unit]))
    (tmp_path / "types.rs").write_text(text)
    (tmp_path / "main.rs").write_text(RUST_MAIN)
    (tmp_path / "main.c").write_text(CONSTRUCTS + C_MAIN)

    outputs = []
    for command in (["rustc", "--edition", "2021", "main.rs", "-o", "in_rust"], ["cc", "-w", "main.c", "-o", "in_c"]):
        try:
            subprocess.run(command, cwd=tmp_path, check=True)
        except FileNotFoundError:
            missing(command[0])
        outputs.append(subprocess.run([tmp_path / command[-1]], capture_output=True, check=True, text=True).stdout)

    assert text.count("assert_layout!(") == sum(one.size >= 0 for one in unit.records.values()) > 20
    assert outputs[0] == outputs[1] != ""
