"""A table of forms: what a function is named by, and what is no function although it looks like one."""

import pytest

from jarvis_workers.source.functions import functions
from jarvis_workers.source.lex import mask

ARGLIST = "#define ARGLIST (struct tnef *t, int id, unsigned char *data)\n#define Args \\\n  (int n)\n"
C_HEADS = {
    "int version STD_ARGLIST {": "version",
    "static char *version STD_ARGLIST\n{": "version",
    "struct s *version STD_ARGLIST {": "version",
    "int version ARGLIST {": "version",
    "version ARGLIST\n{": "version",
    "static void *version Args {": "version",
    "struct s version ARGLIST {": "version",
    "int\nmain(argc, argv)\n\tint argc;\n\tchar **argv;\n{": "main",
    "DEFINE_FN(name) {": "DEFINE_FN",
    "TEST_F(Suite, Case)\n{": "TEST_F",
    "PREFIX(scan)(const char *p)\n{": "PREFIX",
    "PyMODINIT_FUNC initx(void)\n{": "initx",
    "int ZEXPORT inflate(z_streamp strm, int flush) {": "inflate",
    "static FUNC_NORETURN void stop(void) {": "stop",
    "void stop(void) FUNC_NORETURN {": "stop",
    "void stop(void) __attribute__((cold)) {": "stop",
    "void stop(int a) ATTR_PRINTF(1, 2)\n{": "stop",
    "static void *start(struct seq *m) __acquires(RCU)\n{": "start",
    "void STOP(int a) LOCKS(mu) EXCLUDES(other) {": "STOP",
    "API(int)\nsome_head (int a)\n{": "some_head",
    "API(int) SOME_HEAD(int a) {": "SOME_HEAD",
    "module_init(x)\nTEST(a, b)\n{": "TEST",
    "int head P((int a)) {": "head",
    "static int *head __P((int a, char *b))\n{": "head",
    "API int (lua_head) (State *L) {": "lua_head",
    "static int (*head(void))[3] {": "head",
    "void (*signal(int n, void (*f)(int)))(int)\n{": "signal",
    "static int head(int a\n#ifdef X\n, int b\n#endif\n) {": "head",
    "#ifdef X\nint head(int a)\n#else\nint head(void)\n#endif\n{": "head",
    "int head(int a)\n#ifdef X\n__attribute__((cold))\n#endif\n{": "head",
    "typeof(int) HEAD(void) {": "HEAD",
    "#define CHECK(a) \\\n  save(a); \\\n  restore(a))\n\nint head (int a) {": "head",
}
CPP_HEADS = {
    "auto head() -> std::function<void(int)> {": "head",
    "auto head(int a) const -> decltype(g(a)) {": "head",
    "bool A::operator()(int a) const {": "operator()",
    "void *operator new[](size_t n) {": "operator new[]",
    "A::operator const char *() const {": "operator const char *",
    'std::string operator""_s(const char *p, size_t n) {': 'operator""_s',
    "void head() noexcept(noexcept(g())) {": "head",
    "void head(int a) const LOCKS(mu) override {": "head",
    "template <class T> requires (sizeof(T) > 1) void head(T t) {": "head",
    "template <class T> void head(T t) requires requires(T x) { x.g(); } {": "head",
    "void head(A a = {}) {": "head",
    "A::A(int a) noexcept : b(a) {": "A",
    "void head(int a) try {": "head",
    "template <class T = int> void head(T t) {": "head",
    "template <class T, class = enable_if<is_same<T, A<int>>::value>> static A<T> head(T t) {": "head",
    "template <class T> A::operator Matcher<T&>() const {": "operator Matcher<T&>",
    "A::operator ::std::tuple<T...>() const {": "operator ::std::tuple<T...>",
}
NO_HEADS = (
    "struct foo PACKED {",
    "struct PACKED foo {",
    "static const struct foo PACKED {",
    "typedef struct foo PACKED {",
    "struct ALIGNED(64) foo {",
    "enum FOO BAR {",
    "enum class foo : int {",
    "namespace A ATTR {",
    "inline namespace v1 {",
    'extern "C" {',
    "class EXPORT Name {",
    "class Name FINAL {",
    "class EXPORT Name final : public Base {",
    "template <class T> struct EXPORT Name {",
    "typedef NS_ENUM(int, Foo) {",
    "STRUCT foo {",
    "interface IFoo {",
    "static const Foo BAR {",
    "@implementation Foo {",
    "static const int table[F(3)] =\n#ifdef X\n{",
    "#define MORE(a) f(a)\nenum e {",
)
LISTS = ("const Foo foo BAR { 1, 2 };", "static struct s x BAR { .a = 1, { 2 } };", "Foo one TWO { { 1 } };")


def named(form: str) -> list[str]:
    code = f"int before;\n{form}\n    call();\n}}\nint after(void)\n{{\n}}\n".encode()
    return [one.name.decode() for one in functions(mask(code, "c/cpp").text, "c/cpp")]


@pytest.mark.parametrize(("head", "name"), [*C_HEADS.items(), *CPP_HEADS.items()])
def test_the_name_of_a_function_is_found_in_its_head(head: str, name: str) -> None:
    assert named(ARGLIST + head) == [name, "after"]


@pytest.mark.parametrize("head", NO_HEADS)
def test_types_and_tables_with_macros_are_no_functions(head: str) -> None:
    assert named(head) == ["after"]


@pytest.mark.parametrize("code", LISTS)
def test_a_macro_before_a_list_of_values_is_no_parameter_list(code: str) -> None:
    text = mask(f"{code}\nint after(void)\n{{\n}}\n".encode(), "c/cpp").text

    assert [one.name for one in functions(text, "c/cpp")] == [b"after"]


def test_the_parameters_of_a_function_may_be_a_macro() -> None:
    text = "int version ARGLIST {\n    g();\n}\n"

    (function,) = functions(text.encode(), "c/cpp")

    assert text[slice(*function.parameters)] == "ARGLIST"
    assert text[slice(*function.body)].strip() == "g();"
