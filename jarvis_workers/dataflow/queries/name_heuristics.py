"""Infer the behaviour of a function from its name: only reads, prints, or never returns."""

import re


def listed(names: str) -> tuple[str, ...]:
    """Split a text into names; a long list is most readable as text."""
    return tuple(names.split())


WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
PRINTERS = ("print", "log", "dump", "show", "puts", "write", "display", "warn", "debug", "trace")
READERS = listed("""
    print log dump show puts write cmp len debug trace warn err display memset assert str mem read check hash equal
    find valid get is send recv connect bind listen stat seek tell flush lock poll ioctl setsockopt isatty
    """)
KEEPERS = frozenset(listed("add insert append prepend push put set store save enqueue register attach link join"))
# They fill their first argument, and return it.
COPIERS = ("cpy", "cat")
# They move an iterator, which they get by its address, whatever the name of what it iterates over says.
MOVERS = frozenset(("next", "advance", "iterate"))
RECEIVERS = frozenset(("read", "recv", "receive", "readn", "fread"))
JUDGES = ("check", "valid", "verif", "ensure", "require", "need", "assert", "bound", "limit")
RELEASERS = ("free", "release", "destroy", "unref")
CONVERTER = re.compile(r"(?:\w*_)?[bl]e(?:16|24|32|64)_?to_?(?:cpu|host|h|native|ne)p?")
NUMBER_READER = re.compile(
    r"(?:\w+_)?(?:get|read|peek|next|fetch|load|rd|ntoh|unpack|(?:bytes|buf|mem)_?to)_?(?:unaligned_?)?(?:u|uint|[bl]e)_?"
    r"(?P<bits>8|16|24|32|64)(?:_?(?:be|le|t|p))*"
)
ENDS = frozenset(
    listed("""
    exit _exit abort _Exit quick_exit longjmp __builtin_unreachable __assert_fail err errx verr panic BUG unreachable
    terminate std::terminate std::abort std::exit pthread_exit g_error usage die fatal Fatal FATAL _serverPanic
    serverPanic _serverAssert bail error_exit fatal_error out_of_memory oom xalloc_die ExitProcess exit_program
    """)
)
ENDING_WORDS = listed("fatal panic abort die unreachable usage bailout oom outofmemory exit")
ERRNO = re.compile(
    r"(?:^#|_)E(?:INVAL|NOMEM|NOENT|PERM|ACCES|IO|BADF|AGAIN|WOULDBLOCK|INTR|EXIST|BUSY|FAULT|NOSPC|PIPE|RANGE|DOM|NOSYS"
    r"|NOTSUP|OPNOTSUPP|TIMEDOUT|CONN[A-Z]+|ADDR[A-Z]+|OVERFLOW|NOBUFS|NOTCONN|CANCELED|ISDIR|NOTDIR|MFILE|NFILE|2BIG)$"
)
NO_ERROR = re.compile(r"(?:^#|_)(?:SUCCESS|OK|OKAY|NONE|NO)(?:_|$)|NOERR|SUCCESS")
# The family of a constant, and a word that says that a function succeeds.
SUCCEEDED = re.compile(r"#(\w*?)_?(?:SUCCESS|OK|OKAY|NOERR|NO_ERROR)$")
# After one of these words, the last word does not describe an action: at_exit, is_abort, set_panic.
NOT_ENDING = ("at", "is", "on", "set", "no", "pre", "want", "get", "has", "was", "can", "should")
# These macros and functions check a condition that holds afterwards.
CHECKS = frozenset(
    listed("""
    assert ASSERT serverAssert g_assert BUG_ON g_return_if_fail g_return_val_if_fail av_assert0 av_assert1 av_assert2
    OSSL_ASSERT ossl_assert DEBUGASSERT WARN_ON redisAssert assume __builtin_assume static_assert _Static_assert
    ck_assert CHECK DCHECK TEST_ASSERT ASSERT_TRUE EXPECT_TRUE Assert
    """)
)
RETURNS = re.compile(
    r"(?:[A-Za-z]+_)??(?!\w*(?:IF|ON|CHECK|ASSERT|UNLESS|WHEN|FAIL|ERR|EXPECT|TRY|TYPE|VALUE|CODE|NO)(?:_|$))"
    r"(?:[A-Z0-9]+_)*RETURN(?:_[A-Z0-9_]+)?"
)
HANDS_OVER = re.compile(r"TAKE_(?:PTR|FD|GENERIC)|no_free_ptr|return_ptr|retain_and_null_ptr|STEAL_\w+|\w+_STEAL")
INVERSE_CHECKS = frozenset(("BUG_ON", "WARN_ON"))
ASSERTION = re.compile(r"[A-Z0-9_]*ASSERT[A-Z0-9_]*")
# Assertions that compare text or memory, or whose condition the name leaves open.
OF_SOMETHING_ELSE = re.compile(r"STR|MEM|HEX|ARRAY|DOUBLE|FLOAT|OK|ZERO|SUCC|FAIL|ERR|THROW|DEATH|LOCK|HELD")
# Assertions that the compiler checks, for sizes that may differ from ours.
COMPILED = re.compile(r"static|build|compile", re.IGNORECASE)
COMPARED_BY = {"EQ": "==", "EQUAL": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def asserts(name: str) -> bool:
    """Return whether a macro or function asserts its argument; a macro in capitals does if its name says so."""
    return name in CHECKS or (ASSERTION.fullmatch(name) is not None and not OF_SOMETHING_ELSE.search(name))


def is_fatal(name: str) -> bool:
    """Return whether a failed check ends the program."""
    return "assert" in name.lower() and not COMPILED.search(name)


def only_reads(name: str) -> bool:
    words = words_of(name)
    if not (KEEPERS | MOVERS).isdisjoint(words):
        return False
    if words[-1:] and words[-1].endswith(COPIERS):
        return False
    return any(word.removeprefix("f").startswith(READERS) or word.endswith(("len", "cmp")) for word in words)


def is_pure(name: str) -> bool:
    """Return whether calls of a function with equal arguments probably return equal numbers, nothing being written."""
    low = name.lower()
    is_reader = NUMBER_READER.fullmatch(low) or CONVERTER.fullmatch(low) or low.startswith("ntoh")
    return name.isupper() or only_reads(name) or is_reader is not None


def words_of(name: str) -> list[str]:
    """Return the words of an identifier such as send_allBytes."""
    return [word.lower() for word in WORD.findall(name)]


def prints(name: str) -> bool:
    """Return whether a function prints; a name in capitals is a macro, which may do more than its name suggests."""
    low = name.lower()
    return not name.isupper() and any(word in low for word in PRINTERS)


def never_returns(name: str) -> bool:
    if name in ENDS:
        return True
    low = name.lower().replace("_", "")
    return any(word in low for word in ENDING_WORDS) and not low.startswith(NOT_ENDING)


def returns_by_name(name: str) -> bool:
    """Return whether a statement that is such a macro always leaves the function: Py_RETURN_NONE, TRACE_RETURN(x)."""
    return "RETURN" in name and RETURNS.fullmatch(name) is not None


def hands_over(name: str) -> bool:
    """Return whether a macro gives the value of a variable to its caller, and sets the variable to NULL."""
    return HANDS_OVER.fullmatch(name) is not None


def judges(name: str) -> bool:
    """Return whether a function compares its arguments with a bound, and does not return if they exceed it."""
    return any(word.startswith(JUDGES) for word in words_of(name))


def receives(name: str) -> bool:
    """Return whether a function is named like one that reads from a file or socket."""
    return any(word in RECEIVERS for word in words_of(name))


def is_error(kind: str) -> bool:
    """Return whether a name in capitals is an error code: such a value is not 0, and most often negative."""
    return kind[0] == "#" and ("ERR" in kind or ERRNO.search(kind) is not None) and not NO_ERROR.search(kind)


def are_both_success(first: str, second: str) -> bool:
    """Return whether the names of two constants of different families both say that a function succeeds."""
    one, other = SUCCEEDED.match(first), SUCCEEDED.match(second)
    return one is not None and other is not None and one[1] != other[1]


def tells_success(kind: str) -> bool:
    """Return whether the name of an unknown constant says that a function fails or succeeds."""
    return kind[0] == "#" and (is_error(kind) or NO_ERROR.search(kind) is not None)


def releases(name: str) -> bool:
    return name.lower().startswith(RELEASERS)
