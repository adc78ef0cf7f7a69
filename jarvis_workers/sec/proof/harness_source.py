"""Check the source and the symbols of a harness: it may call the tree, and must not change or replace it.

The tree's headers come first, so that no macro of the harness changes them; the harness defines nothing but `main`; of
the system it may call only functions that allocate, copy and open files.  It cannot write to the log of a sanitizer,
because it has no function that writes, neither declared nor in assembly.
"""

import re
from collections.abc import Iterator, Mapping, Set

from jarvis_workers.sec.proof.proof import Language
from jarvis_workers.source.lex import mask

SOURCE_MAX = 64_000
DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(\w*)(.*)$", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[\w./+-]+>|"[\w./+-]+")[ \t]*$')
AFTER_INCLUDES = frozenset(("define", "undef", "if", "ifdef", "ifndef", "else", "elif", "endif"))
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".def", ".inc")
RESERVED = re.compile(r"\b__\w+")
ALLOWED_RESERVED = frozenset(("__FILE__", "__LINE__", "__func__", "__cplusplus"))
FORBIDDEN = re.compile(r"\b(?:asm|_Pragma|import|module)\b|\[\s*\[|\?\?|<::|__has_embed|#\s*embed")
LINE_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"', re.MULTILINE)
CALLS = frozenset(
    (
        *("malloc", "calloc", "realloc", "free", "aligned_alloc", "memcpy", "memmove", "memset"),
        *("memcmp", "memchr", "strlen", "strnlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strncat"),
        *("strchr", "strrchr", "strstr", "strdup", "strndup", "snprintf", "sprintf", "fopen", "fmemopen", "fclose"),
        *("fread", "fseek", "ftell", "rewind", "feof", "fgetc", "getc", "fgets", "ungetc", "open", "close", "read"),
        *("lseek", "exit", "abort", "atoi", "atol", "strtol", "strtoul", "setlocale", "stdin", "stdout", "stderr"),
        *("htons", "htonl", "ntohs", "ntohl", "tolower", "toupper"),
    )
)
# Functions that write, or set where files are read to, are replaced by one that does nothing.
SILENCED = (
    *("printf", "fprintf", "puts", "fputs", "putchar", "fputc", "putc", "fwrite", "perror", "fflush"),
    *("vprintf", "vfprintf", "setvbuf", "setbuf"),
)
# What the compiler adds.
INSTRUMENTATION = re.compile(
    r"___asan_globals_registered|__(?:start|stop)_asan_globals"
    r"|__(?:asan|ubsan|stack_chk|gxx_personality|cxa|dso_handle)\w*|_(?:Zd|Zn|ZSt|ZNSt|ZNKSt|ZTV)\w*"
)


# What compilers call for errno and for the addresses of functions.
OF_COMPILERS = frozenset(("__errno_location", "_GLOBAL_OFFSET_TABLE_"))


def source_faults(code: str, language: Language) -> Iterator[str]:
    """Yield what a harness must not contain, each as a sentence for the model."""
    if len(code) > SOURCE_MAX:
        yield f"the harness is longer than {SOURCE_MAX} characters"
        return
    if "\\\n" in code or "\r" in code.replace("\r\n", "\n"):
        yield "the harness joins lines with a backslash, or has a lone carriage return; write each line in full"
        return
    text = mask(code.encode("utf-8", "replace"), "c/cpp").text.decode("utf-8", "replace")
    yield from _directive_faults(text, code)
    for name in sorted(set(RESERVED.findall(text)) - ALLOWED_RESERVED):
        yield f"{name} is reserved for the compiler; a harness must not use it"
    if match := FORBIDDEN.search(text):
        yield f"{match[0]!r} must not be in a harness"
    if not re.search(r"\bmain\s*\(", text):
        yield f"the harness ({language}) needs a main function"


def _directive_faults(text: str, code: str) -> Iterator[str]:
    """Yield faults of directives; `text` is the code with comments and literals blanked."""
    lines, is_past_includes = code.replace("\r\n", "\n").split("\n"), False
    for number, line in enumerate(text.split("\n")):
        match = DIRECTIVE.match(line)
        if match is None:
            is_past_includes = is_past_includes or bool(line.strip())
        elif match[1] == "include":
            if is_past_includes:
                yield "put all #include lines first: code or macros before a header could change it"
            elif not INCLUDE.match(lines[number].partition("//")[0].partition("/*")[0].rstrip()):
                yield "an #include must name a header of the tree or of the system"
        elif match[1] in AFTER_INCLUDES:
            is_past_includes = True
        else:
            yield f"the directive #{match[1]} must not be in a harness"


def includes_of(code: str) -> str:
    """Return the lines of a harness that include headers."""
    return "\n".join(line for line in code.replace("\r\n", "\n").split("\n") if re.match(r"[ \t]*#[ \t]*include", line))


def include_faults(preprocessed: str, harness: str, project: str, system: tuple[str, ...]) -> Iterator[str]:
    """Yield the included files that are neither headers of the tree nor of the system."""
    for name in dict.fromkeys(LINE_MARKER.findall(preprocessed)):
        path = name.removeprefix("./")
        is_special = path.startswith("<") or path == harness
        is_of_tree = (path.startswith(f"{project}/") or not path.startswith("/")) and ".." not in path.split("/")
        if is_special or path.startswith(system) or (is_of_tree and path.endswith(HEADERS)):
            continue
        yield f"{path.removeprefix(project + '/')} is not a header; a harness may include only headers"


def included_headers(preprocessed: str, project: str) -> list[str]:
    """Return the headers of the tree that a preprocessed harness includes, relative to the tree."""
    return list(dict.fromkeys(header for header, _ in header_parts(preprocessed, project)))


def header_parts(preprocessed: str, project: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a preprocessed harness that are from headers of the tree, each with its header."""
    for place, text in _parts(preprocessed):
        if place.startswith(f"{project}/"):
            yield place.removeprefix(f"{project}/").removeprefix("./"), text


def system_text(preprocessed: str) -> str:
    """Return what of a preprocessed harness is from headers of the system."""
    return "".join(text for place, text in _parts(preprocessed) if place.startswith("/"))


def _parts(preprocessed: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a preprocessed file, each with the path of its file."""
    pieces = LINE_MARKER.split(preprocessed)
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        yield name.removeprefix("./"), text.partition("\n")[2]


def symbol_faults(defined: Set[str], undefined: Set[str], tree: Mapping[str, str], language: Language) -> Iterator[str]:
    """Yield the symbols that a harness must not define or use; `tree` has the symbols of the tree."""
    defined = {name for name in defined if not INSTRUMENTATION.fullmatch(name)}
    if language == "c" and (extra := defined - {"main"}):
        yield f"make {', '.join(sorted(extra))} static: a harness defines only main"
    if replaced := defined & tree.keys() - {"main"}:
        yield f"the harness defines {', '.join(sorted(replaced))}, which the tree defines"
    for name in sorted(undefined - tree.keys() - CALLS - OF_COMPILERS - set(SILENCED)):
        if not INSTRUMENTATION.fullmatch(name):
            yield f"{name} is neither in what was compiled of the tree nor one of those that a harness may call"
