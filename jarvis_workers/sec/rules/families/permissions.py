"""open_permissive_perms: files, directories and masks that give every user of the machine write access."""

from jarvis_workers.sec.rules.analysis.declarations import Scope
from jarvis_workers.sec.rules.analysis.facts import is_in_file
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

SET, EXACT, OPEN_MASK, EXECUTABLE, STICKY, BORROWED, ROOT_ONLY = 0.1, 0.05, 0.05, 0.1, -0.1, -0.1, 0.0
OTHERS_WRITE, ALL_EXECUTE, STICKY_BIT = 0o002, 0o111, 0o1000
# Position of the mode among the arguments.
MODES: dict[bytes, int] = {
    **dict.fromkeys(b"open open64 creat64 shm_open mkdirat mkfifoat mknodat proc_create_data".split(), 2),
    **dict.fromkeys(
        b"creat mkdir mkfifo mknod chmod fchmod proc_create proc_mkdir_mode debugfs_create_file".split(), 1
    ),
    **dict.fromkeys(b"mq_open sem_open fchmodat".split(), 2),
    **dict.fromkeys(b"openat openat64".split(), 3),
    b"creat64": 1,
    b"umask": 0,
}
# The umask does not apply to these.
SETS = frozenset(b"chmod fchmod fchmodat proc_create proc_create_data proc_mkdir_mode debugfs_create_file".split())
FLAGS = {
    b"S_IRWXU": 0o700, b"S_IRUSR": 0o400, b"S_IWUSR": 0o200, b"S_IXUSR": 0o100,
    b"S_IRWXG": 0o070, b"S_IRGRP": 0o040, b"S_IWGRP": 0o020, b"S_IXGRP": 0o010,
    b"S_IRWXO": 0o007, b"S_IROTH": 0o004, b"S_IWOTH": 0o002, b"S_IXOTH": 0o001,
    b"S_IRWXUGO": 0o777, b"S_IALLUGO": 0o7777, b"S_IRUGO": 0o444, b"S_IWUGO": 0o222, b"S_IXUGO": 0o111,
    b"ACCESSPERMS": 0o777, b"ALLPERMS": 0o7777, b"DEFFILEMODE": 0o666,
    b"S_ISVTX": 0o1000, b"S_ISUID": 0o4000, b"S_ISGID": 0o2000, b"S_IFIFO": 0, b"S_IFREG": 0, b"S_IFCHR": 0,
}  # fmt: skip
SEPARATORS = lazy(rb"[|+()\s]+")
CAST = lazy(rb"\(\s*(?:mode_t|int|unsigned|u?int\d+_t|umode_t)\s*\)")
OCTAL = lazy(rb"0[0-7]{1,6}[uUlL]*\Z")
NUMBER = lazy(rb"(?:0[xX][0-9a-fA-F]{1,8}|[1-9]\d{0,6}|0)[uUlL]*\Z")
NAME = lazy(rb"[A-Za-z_]\w*\Z")
MACRO = lazy(rb"#[ \t]*+define[ \t]++(\w++)[ \t]++([^\n]{1,160})")
NO_MASK = lazy(rb"[;{})]\s*+(?:\(\s*void\s*\)\s*)?umask\s*\(\s*0+\s*\)")
TEMPORARY = lazy(rb"\bumask\s*\(\s*\w+\s*\)")


def check_mode(site: Site) -> float | None:
    """Check modes that no umask restricts; lower the confidence for sticky directories such as /tmp.

    POSIX programs create files with 0666 and directories with 0777, and leave the restriction to the user's umask.
    """
    mode = _mode(site, site.masked(MODES[site.name]))
    if mode is None:
        return None
    if site.name == b"umask":
        return _mask(site, mode)
    if not mode & OTHERS_WRITE or (site.name in (b"open", b"open64", b"openat") and not _creates(site)):
        return None
    if site.name not in SETS and not is_in_file(site, NO_MASK):
        return None
    moved = ROOT_ONLY if site.name == b"debugfs_create_file" else SET if site.name in SETS else EXACT
    if mode & STICKY_BIT:
        return moved + STICKY
    is_program = site.name not in SETS and not _is_directory(site) and mode & ALL_EXECUTE == ALL_EXECUTE
    return moved + (EXECUTABLE if is_program else 0.0)


def _mask(site: Site, mode: int) -> float | None:
    """Check for a umask that lets others write, unless it is restored at once: that is how the umask is read."""
    if mode & OTHERS_WRITE or site.result.kind in ("passed", "tested", "returned"):
        return None
    if site.result.kind == "assigned":
        return None if TEMPORARY.search(site.after(160)) else BORROWED
    return OPEN_MASK if mode == 0 else 0.0


def _creates(site: Site) -> bool:
    """Return whether the flags create a file; flags in a variable are assumed to do so."""
    flags = site.masked(MODES[site.name] - 1)
    return b"CREAT" in flags or b"TMPFILE" in flags or b"O_" not in flags


def _is_directory(site: Site) -> bool:
    return site.name in (b"mkdir", b"mkdirat")


def _mode(site: Site, expression: bytes) -> int | None:
    """Return the bits of a mode if it is constant, otherwise None."""
    expression = CAST.sub(b"", expression).strip()
    bits = _bits(expression)
    if bits is not None or not NAME.match(expression):
        return bits
    if expression.isupper():
        return _bits(_macro(site, expression))
    values = Scope(site).values(expression)
    return _bits(CAST.sub(b"", values[0].text)) if len(values) == 1 else None


def _bits(expression: bytes) -> int | None:
    total, seen = 0, False
    for part in SEPARATORS.split(expression.strip()):
        if not part:
            continue
        bits = FLAGS.get(part)
        if bits is None and OCTAL.match(part):
            bits = int(part.rstrip(b"uUlL"), 8)
        elif bits is None and NUMBER.match(part):
            bits = int(part.rstrip(b"uUlL"), 0)
        if bits is None:
            return None
        total, seen = total | bits, True
    return total if seen else None


def _macro(site: Site, name: bytes) -> bytes:
    """Return the definition of a macro of this file; empty if there is none."""
    source = site.source
    macros = source.once("mode macros", lambda: {match[1]: match[2] for match in MACRO.finditer(source.text)})
    return macros.get(name, b"")


RULES: tuple[Rule, ...] = (rule("open_permissive_perms", check_mode, calls=tuple(name.decode() for name in MODES)),)
