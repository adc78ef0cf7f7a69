"""The calls that a harness makes into the tree: whether they use its API, and code that checks their arguments.

A function is API if a header of the tree declares it, and the tree itself does not call it or the header is public.
Otherwise the callers within the tree may check what the harness does not.  Each call goes through a generated function
that records whether its pointers are valid, for as many bytes as the following length says, and whether the harness
changed memory of the tree since the last call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, partial
from string import ascii_letters, digits
from typing import NamedTuple

from jarvis_workers.sec.proof.proof import CallArgument
from jarvis_workers.sec.proof.structure_members import Pairs, TreeStructures, base_type, sized_members

# The name of a function may be within parentheses, if its result is a pointer to a function: "extern f (*name (int));".
DECLARED = re.compile(r"^/\* (.+):(\d+):\w+ \*/ extern ([^()]+?)(?:\((\*[^()]*?))?(\w+) \((?!\*)(.*);", re.MULTILINE)
# The name of a length: alone, or behind the name of the memory that it belongs to.
LENGTH = re.compile(
    r"_?(?:len|length|size|sz|n|l|cnt|count|num|bytes|nbytes|cap|capacity|max|avail|limit|room)\d*", re.IGNORECASE
)
MEMORY = re.compile(
    r"^(?:buf|buffer|data|in|out|src|dst|dest|str|s|text|input|output|source|p|ptr|b|d)_?", re.IGNORECASE
)
INTEGER = re.compile(
    r"^(?:const |volatile )?(?:(?:un)?signed |short |long |int|size_t|ssize_t|u?int\d+_t|u?_?int|uInt|uLong|off_t)"
)
# How compilers write va_list.
VARIADIC = re.compile(r"\b(?:__va_list_tag|__builtin_va_list|__gnuc_va_list|va_list)\b")
INSTALLED = re.compile(r"install|_HEADERS\b|PUBLIC_H|includedir", re.IGNORECASE)
PARENTHESES = re.compile(r"\([^()]*\)")
# A member that is changed, of a structure behind a pointer or of a variable of the harness.
CHANGED = r"\s*(\w+)\s*(?:\[[^]]*\]\s*)*(?:(?:[-+*/|&^%]|<<|>>)?=(?!=)|\+\+|--)"
BEHIND_POINTER = re.compile(rf"(?:->|[\])]\s*\.){CHANGED}|&\s*\w+\s*->\s*(\w+)")
OF_VARIABLE = re.compile(rf"\b[A-Za-z_]\w*\s*\.{CHANGED}")
# The variable before a member, which is no member itself.
VARIABLE, NAME_MAX = re.compile(r"(?<![.>\w])(\w+)\s*$"), 100
NAME_LETTERS = f"{ascii_letters}{digits}_"
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
RECORD = re.compile(r"^(\w+) (\d+) (\w*) (\d+) (\d+)$")
RECORDS_MAX = 100_000
NOT_DECLARED = "is not declared in a header of the tree"
TABLE = """
#define JARVIS_POINTER(x) __builtin_choose_expr(__builtin_classify_type(x) == 5, \\
    ({ const void *at; __builtin_memcpy(&at, &(x), sizeof at < sizeof (x) ? sizeof at : sizeof (x)); at; }), \\
    (const void *)1)
#define JARVIS_WIDTH(x) _Generic((x), char *: 1, const char *: 1, signed char *: 1, const signed char *: 1, \\
    unsigned char *: 1, const unsigned char *: 1, void *: 1, const void *: 1, short *: 2, const short *: 2, \\
    unsigned short *: 2, const unsigned short *: 2, int *: 4, const int *: 4, unsigned *: 4, const unsigned *: 4, \\
    long *: 8, const long *: 8, unsigned long *: 8, const unsigned long *: 8, float *: 4, const float *: 4, \\
    double *: 8, const double *: 8, default: 0)
extern void jarvis_handle(const char *, int, const void *);
extern void jarvis_memory(const char *, int, const void *, unsigned long);
extern void jarvis_string(const char *, int, const char *);
extern void jarvis_enter(const char *);
extern void jarvis_leave(void);
const int jarvis_has_harness = 1;
"""


class ApiDeclaration(NamedTuple):
    """A function that a header of the tree, or the harness itself, declares."""

    file: str
    line: int
    result: str
    parameters: tuple[str, ...]

    @property
    def is_variadic(self) -> bool:
        return any(one == "..." or VARIADIC.search(one) for one in self.parameters)


def declarations_of(listing: str) -> dict[str, ApiDeclaration]:
    """Return the declared functions by name, from what gcc writes with -aux-info."""
    found = dict[str, ApiDeclaration]()
    for file, line, result, pointer, name, rest in DECLARED.findall(listing):
        end = closing(rest)
        result = pointed(result, pointer, rest[end + 2 :]) if pointer else result.strip()
        found[name] = ApiDeclaration(file, int(line), result, _split(rest[:end]))
    return found


def closing(text: str) -> int:
    """Return the place of the parenthesis that closes one before a text, its length if none does."""
    depth = 1
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return place
    return len(text)


def pointed(base: str, pointer: str, rest: str) -> str:
    """Return the type of a pointer to a function or an array, from the parts around its parentheses."""
    return f"{base.strip()} ({pointer.strip()}){rest.strip()}"


def internal_use(
    called: Set[str],
    declarations: Mapping[str, ApiDeclaration],
    project: str,
    callers: Mapping[str, Set[str]],
    public: Set[str],
) -> str:
    """Return why a harness does not use the API of a tree, "" if it does.

    `callers` are the functions of the tree that call a function, `public` the headers that are public.
    """
    for name in sorted(called):
        declared = declarations.get(name)
        if declared is None or not declared.file.startswith(f"{project}/"):
            return f"{name} {NOT_DECLARED}"
        if declared.is_variadic:
            return f"{name} takes any number of arguments, which cannot be checked"
        header = declared.file.removeprefix(f"{project}/").removeprefix("./")
        if callers.get(name) and header not in public:
            caller = sorted(callers[name])[0]
            return f"{name} is internal: {caller} of the tree calls it, and {header} is not a public header"
    return ""


def changed_member(code: str, structures: TreeStructures) -> str:
    """Return a reason if a harness changes or makes structures that the tree alone may, "" if it does not."""
    text = LITERAL.sub('""', code)
    rules = (
        (BEHIND_POINTER, structures.members, "of a structure behind a pointer"),
        (OF_VARIABLE, structures.hidden, "of a structure that no public header declares"),
    )
    are_own = cache(partial(structures.are_own, text))
    for shape, members, of_what in rules:
        for match in shape.finditer(text):
            name = next(filter(None, match.groups()))
            end = match.start() + len(match[0]) - len(match[0].lstrip(NAME_LETTERS))
            variable = VARIABLE.search(text[max(0, end - NAME_MAX) : end])
            if name in members and not (variable and are_own(variable[1])):
                return f"in line {_line_of(match)} it changes the member {name} {of_what}"
    if name := structures.disguise(text):
        return f"it makes a structure {name}, whose members no header declares"
    return ""


def _line_of(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def library_headers(
    declarations: Mapping[str, ApiDeclaration],
    project: str,
    callers: Mapping[str, Set[str]],
    defined: Set[str],
    shared: Set[str],
) -> set[str]:
    """Return the headers that are made for users: the tree itself calls less than half of their functions.

    Or none of them is `shared`, that is called outside the object that defines it: the header of an amalgamation.
    """
    functions: dict[str, list[str]] = {}
    for name, declared in declarations.items():
        if name in defined and declared.file.startswith(f"{project}/"):
            functions.setdefault(declared.file.removeprefix(f"{project}/").removeprefix("./"), []).append(name)
    return {
        header
        for header, names in functions.items()
        if 2 * sum(bool(callers.get(name)) for name in names) < len(names) or shared.isdisjoint(names)
    }


def public_headers(headers: Sequence[str], build_files: Mapping[str, str]) -> set[str]:
    """Return the headers that users of the tree include: those below `include`, and those that are installed.

    `build_files` are the texts of build files by name.
    """
    named = {
        word.rpartition("/")[2]
        for text in build_files.values()
        for line in PARENTHESES.sub(_on_one_line, text.replace("\\\n", " ")).split("\n")
        if INSTALLED.search(line)
        for word in re.findall(r"[\w./+-]+\.h\w*", line)
    }
    return {header for header in headers if "include" in header.split("/")[:-1] or header.rpartition("/")[2] in named}


def checking_code(
    includes: str, called: Set[str], declarations: Mapping[str, ApiDeclaration], texts: Mapping[str, str]
) -> str:
    """Return C code with a function `jarvis_NAME` for each called function that records its arguments.

    `texts` are the headers by path, for the names of parameters.
    """
    members = sized_members(texts.values())
    functions = [
        _checked(name, declarations[name], _names(name, declarations[name], texts), members)
        for name in sorted(called)
        if name in declarations and not declarations[name].is_variadic
    ]
    return "\n".join([includes, TABLE, *functions, ""])


def read_records(log: str) -> tuple[CallArgument, ...]:
    """Return the arguments that the checking functions recorded."""
    rows = (RECORD.match(line) for line in log.split("\n")[:RECORDS_MAX])
    return tuple(
        CallArgument(row[1], int(row[2]), "" if row[3] == "valid" else row[3], int(row[4]), int(row[5]))
        for row in rows
        if row
    )


def _on_one_line(match: re.Match[str]) -> str:
    return match[0].replace("\n", " ")


def _checked(name: str, declaration: ApiDeclaration, names: Sequence[str], members: Mapping[str, Pairs]) -> str:
    types = [one for one in declaration.parameters if one != "void"]
    parameters = ", ".join(f"__typeof__({one}) a{number}" for number, one in enumerate(types, 1)) or "void"
    checks = "".join(f"  {line}\n" for line in [*_checks(name, types, names), *_member_checks(name, types, members)])
    passed = ", ".join(f"a{number}" for number, _ in enumerate(types, 1))
    result = f"__typeof__({declaration.result})"
    is_void = declaration.result == "void"
    call = f"{name}({passed});" if is_void else f"{result} result = {name}({passed});"
    body = f'  jarvis_enter("{name}");\n{checks}  {call}\n  jarvis_leave();\n{"" if is_void else "  return result;"}\n'
    return f"{result} jarvis_{name}({parameters})\n{{\n{body}}}\n"


def _checks(name: str, types: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    for number, one in enumerate(types, 1):
        if "(*" in one or not _may_be_pointer(one):
            continue
        following = types[number] if number < len(types) else ""
        pair = (names[number - 1], names[number]) if number < len(names) else ("", "")
        is_text = one.replace(" ", "") in ("constchar*", "charconst*")
        may_be_flags = is_text and not pair[1] and not following.startswith(("size_t", "unsigned"))
        if one.endswith("*") and _is_integer(following) and _is_length(*pair) and not may_be_flags:
            size = f"(unsigned long)a{number + 1} * JARVIS_WIDTH(a{number})"
            yield f'jarvis_memory("{name}", {number}, a{number}, {size});'
        elif is_text:
            yield f'jarvis_string("{name}", {number}, a{number});'
        elif one.endswith("*"):
            yield f'jarvis_handle("{name}", {number}, (const void *)a{number});'
        else:
            yield f'jarvis_handle("{name}", {number}, JARVIS_POINTER(a{number}));'


def _member_checks(name: str, types: Sequence[str], members: Mapping[str, Pairs]) -> Iterator[str]:
    """Yield checks of the memory that the members of structures point to."""
    for number, one in enumerate(types, 1):
        for pointer, size in members.get(base_type(one), ()) if one.count("*") <= 1 else ():
            memory = f"a{number}->{pointer}"
            measured = f"(unsigned long)a{number}->{size} * JARVIS_WIDTH({memory})"
            yield f'if (a{number}) jarvis_memory("{name}", {number}, {memory}, {measured});'


def _is_integer(one: str) -> bool:
    return bool(INTEGER.match(one)) and not one.endswith("*")


def _is_length(memory: str, name: str) -> bool:
    """Return whether a parameter is the length of the one before it; one without a name may be."""
    rest = name.removeprefix(memory) if memory and name != memory else name
    return not name or any(LENGTH.fullmatch(one) for one in (name, rest, MEMORY.sub("", name)))


def _may_be_pointer(one: str) -> bool:
    """Return whether a type may be a pointer; a `struct` without an asterisk is none, a type's name may be one."""
    return one.endswith("*") or not (
        INTEGER.match(one) or one.startswith(("struct", "union", "enum", "float", "double"))
    )


def _names(name: str, declaration: ApiDeclaration, texts: Mapping[str, str]) -> list[str]:
    """Return the names of the parameters in a header, "" for one without a name."""
    lines = texts.get(declaration.file, "").split("\n")
    text = " ".join(lines[max(0, declaration.line - 2) : declaration.line + 20])
    match = re.search(rf"\b{re.escape(name)}\b\s*(?:[A-Z]\w*\s*)?\(+([^;{{]*)\)", text)
    if not match:
        return []
    parameters = (re.sub(r"/\*.*?\*/|\[[^]]*\]", " ", one) for one in _split(match[1].partition(";")[0]))
    words = [re.findall(r"\w+", one) for one in parameters]
    return [found[-1] if len(found) > 1 else "" for found in words]


def _split(text: str) -> tuple[str, ...]:
    """Split parameters at the commas outside parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)
