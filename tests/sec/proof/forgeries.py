"""Trees without the defect that a finding claims, whose programs or builds forge the evidence of a proof.

The finding is in `lib.c`, which is right; `main.c`, a further file or the build is hostile.
"""

from dataclasses import dataclass

from jarvis_workers.sec.proof.proof import Attempt
from tests.sec.proof.cases import Case, harness

LIB_H = "int sum_of(const unsigned char *data, unsigned size);\n"
LIB_C = """\
#include "lib.h"
#include <stdlib.h>
int sum_of(const unsigned char *data, unsigned size)
{
    int sum = 0;
    unsigned char *copy = malloc(size + 1);
    for (unsigned at = 0; copy && at < size; at++) {
        copy[at] = data[at]; /* sink */
        sum += copy[at];
    }
    free(copy);
    return sum;
}
"""
SINK_LINE = 1 + next(at for at, line in enumerate(LIB_C.split("\n")) if "/* sink */" in line)
INCLUDES = """\
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib.h"
extern char **environ;
static char program[4096];
"""
# A report on the right line of the victim, whose address is that of its function.
FORGE = """\
static int report_to(char *text, int size)
{
    if (!*program && readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        *program = 0;
    return snprintf(text, size,
        "==%d==ERROR: %sSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x4e1f8f bp "
        "0x7ffd sp 0x7ffd\\n"
        "WRITE of size 1 at 0x602000000014 thread T0\\n    #0 0x4e1f8e  (%s+0x%lx)\\n\\n",
        getpid(), "Address", program, (unsigned long)sum_of + 4);
}
static void write_to(const char *path)
{
    char text[6000];
    int size = report_to(text, sizeof text), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, text, size) != size)
        _exit(9);
    close(file);
}
static void write_all(void)
{
    DIR *home = opendir("..");
    char path[600];
    for (struct dirent *one; home && (one = readdir(home));)
        if (*one->d_name != '.' && strcmp(one->d_name, "run") && strcmp(one->d_name, "inputs")) {
            snprintf(path, sizeof path, "../%s/report.%d", one->d_name, getpid());
            int file = open(path, O_WRONLY | O_CREAT, 0600);
            if (file >= 0) {
                close(file);
                write_to(path);
            }
        }
}
"""
MAIN = """\
int main(int count, char **words)
{
    strcpy(program, words[0]);
    sum_of((const unsigned char *)"abc", 3);
%s
    return count < 0;
}
"""


def hostile(body: str, before: str = "") -> dict[str, str]:
    """Return a tree whose main function runs this."""
    return {"lib.h": LIB_H, "lib.c": LIB_C, "main.c": f"{INCLUDES}{FORGE}{before}{MAIN % body}"}


def beside(text: str, body: str = "") -> dict[str, str]:
    """Return a tree with a further file, whose function `begin` is called."""
    return hostile(f"{body}\n    begin();", "void begin(void);\n") | {"begin.c": text}


SCAN = """\
extern char __data_start[], _end[];
__attribute__((no_sanitize("address"))) static const char *find(const char *what)
{
    unsigned long length = strlen(what);
    for (const char *at = __data_start; at + length < _end; at++) {
        unsigned long same = 0;
        while (same < length && at[same] == (what[same] ^ 1))
            same++;
        if (same == length)
            return at;
    }
    return 0;
}
"""
CHILD = """\
    int status = 0;
    if (!fork()) {
        volatile char *own = malloc(4);
        own[4] = 1;
        _exit(1);
    }
    wait(&status);
"""
# Each way to learn the code with which a sanitizer ends the process, and where its log is.
LEAK = """\
    for (char **one = environ; *one; one++)
        for (char *at = *one; (at = strstr(at, "exitcode=")); at++) {
            write_all();
            _exit(atoi(at + 9));
        }
"""
REMOVE = """\
    DIR *home = opendir("..");
    char path[600];
    for (struct dirent *one; home && (one = readdir(home));) {
        snprintf(path, sizeof path, "../%s", one->d_name);
        DIR *logs = *one->d_name != '.' ? opendir(path) : 0;
        for (struct dirent *log; logs && (log = readdir(logs));)
            if (!strncmp(log->d_name, "report", 6)) {
                snprintf(path, sizeof path, "../%s/%s", one->d_name, log->d_name);
                unlink(path);
            }
    }
"""
EDIT = """\
static void edit(void)
{
    DIR *home = opendir("..");
    char path[600], log[600];
    for (struct dirent *one; home && (one = readdir(home));) {
        snprintf(path, sizeof path, "../%s", one->d_name);
        DIR *logs = *one->d_name != '.' ? opendir(path) : 0;
        for (struct dirent *each; logs && (each = readdir(logs));)
            if (!strncmp(each->d_name, "report", 6)) {
                snprintf(log, sizeof log, "%s/%s", path, each->d_name);
                write_to(log);
            }
    }
}
"""
CALLED = "    volatile char *own = malloc(4);\n    {}((unsigned long)own + 4); /* sink */\n"
SYMBOL = '    char name[40] = "{}";\n    for (char *at = name; *at; at++)\n        *at ^= 1;\n'
STORE = "".join(chr(ord(one) ^ 1) for one in "__asan_report_store1")
POISON = "".join(chr(ord(one) ^ 1) for one in "__asan_poison_memory_region")
CRASH = "    volatile char *own = malloc(4);\n    own[4] = 1;\n}\n"
PROGRAM = Attempt("program", "main.c")

FORGERIES: dict[str, dict[str, str]] = {
    "prints a report": hostile(
        "    char text[6000];\n    report_to(text, 6000);\n    fputs(text, stderr);\n    exit(1);"
    ),
    "guesses the code of the end": hostile("    write_all();\n    _exit(64 + getpid() % 50);"),
    "reads its environment": hostile(LEAK),
    "reads its own memory": hostile(
        '    const char *at = find("dyhubned<");\n    write_all();\n    _exit(at ? atoi(at + 9) : 1);', SCAN
    ),
    "learns the code from a child": hostile(f"{CHILD}{REMOVE}    write_all();\n    _exit(WEXITSTATUS(status));"),
    "adds to the report of a child": hostile(f"{CHILD}    write_all();\n    _exit(WEXITSTATUS(status));"),
    "writes the log in a destructor": hostile(
        f"{CHILD}{REMOVE}    code = WEXITSTATUS(status);",
        "static int code;\n__attribute__((destructor)) static void end(void)\n{\n    write_all();\n  "
        "  _exit(code);\n}\n",
    ),
    "calls the report of an access": hostile(
        CALLED.format("__asan_report_store1"), "void __asan_report_store1(unsigned long);\n"
    ),
    "pastes the name of the report": hostile(
        CALLED.format("PASTED(__as, an_report_store1)"),
        "#define PASTED(a, b) a##b\nvoid PASTED(__as, an_report_store1)(unsigned long);\n",
    ),
    "calls the report by assembly": beside(
        "#include <stdlib.h>\nvoid begin(void)\n{\n    char *own = (char *)malloc(4) + 4;\n"
        '    __asm__ volatile("call __as" "an_report_store1" : : "D"(own) : "memory"); /* sink */\n}\n'
    ),
    "names a function by assembly": hostile(
        CALLED.format("harmless"), 'void harmless(unsigned long) __asm__("__asan" "_report_store1");\n'
    ),
    "poisons memory": hostile(
        "    static volatile unsigned char own[64];\n    __asan_poison_memory_region(own, 64);\n    "
        "own[count + 8] = 1; /* sink */",
        "void __asan_poison_memory_region(const volatile void *, unsigned long);\n",
    ),
    "writes the shadow memory": hostile(
        "    unsigned char *own = malloc(64);\n    mark(own);\n    ((volatile unsigned char *)own)[2] = 1; /* sink */",
        '__attribute__((no_sanitize("address"))) static void mark(const void *own)\n{\n'
        "    *(volatile char *)(((unsigned long)own >> 3) + 0x7fff8000) = (char)0xfa;\n}\n",
    ),
    "sets the options": hostile("    exit(3);", 'const char *__asan_default_options(void) { return "exitcode=3"; }\n'),
    "replaces the writer of the log": hostile(
        CHILD,
        "void own_write(void *file, const char *text, unsigned long size) "
        '__asm__("_ZN11__sanitizer10ReportFile5WriteEPKcm");\n'
        "void own_write(void *file, const char *text, unsigned long size)\n{\n    (void)file;\n    (void)size;\n"
        '    if (strstr(text, "ERROR"))\n        write_all();\n}\n',
    ),
    "claims the line of another file": beside(
        f"#include <stdlib.h>\nvoid begin(void)\n{{\n    volatile char *own = malloc(4);\n#line "
        f'{SINK_LINE} "project/lib.c"\n'
        "    own[4] = 1;\n}\n"
    ),
    "claims a line by a marker": beside(
        f"#include <stdlib.h>\nvoid begin(void)\n{{\n    volatile char *own = malloc(4);\n# "
        f'{SINK_LINE} "project/lib.c"\n'
        "    own[4] = 1;\n}\n"
    ),
    "claims a line by a macro": beside(
        f'#include <stdlib.h>\n#define PLACED {SINK_LINE} "project/lib.c"\n'
        "void begin(void)\n{\n    volatile char *own = malloc(4);\n#line PLACED\n    own[4] = 1;\n}\n"
    ),
    "claims a line by assembly": beside(
        "void *malloc(unsigned long);\nvoid begin(void)\n{\n    volatile char *own = malloc(4);\n"
        f'    __asm__ volatile(".file 3 \\"project/lib.c\\"\\n\\t.loc 3 {SINK_LINE}\\n");\n    own[4] = 1;\n}}\n'
    ),
    "edits the report of a child": hostile(
        f"{CHILD}    edit();\n    _exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);",
        EDIT,
    ),
}


@dataclass(frozen=True)
class HostileBuild:
    """A tree with a hostile build: its files, its command, and the attempt."""

    files: dict[str, str]
    command: str
    attempt: Attempt = Attempt("program", "prog")  # noqa: RUF009  (frozen)


PLAIN = hostile("")
ATTACK = "".join([INCLUDES, FORGE, MAIN % LEAK])
SCRIPT = """\
#!/bin/sh
code=${JARVIS_PROOF#*exitcode=}
log=${JARVIS_PROOF#*=}
address=$(nm "$(dirname "$0")/victim" | awk '$3 == "sum_of" { print $1 }')
printf '==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x4 bp 0x7 sp 0x7\\n\
WRITE of size 1 at 0x602000000014 thread T0\\n    #0 0x4e1f8e  (%s+0x%s)\\n\\n' \\
    "$(realpath "$(dirname "$0")/victim")" "$address" > "${log%%/calls*}/report.7"
exit "${code%%:*}"
"""
SUPPORT = """\
const char *__asan_default_options(void) { return "detect_leaks=0"; }
void jarvis_enter(const char *name) { *(volatile char *)0 = (char)(name != 0); }
void jarvis_leave(void) { }
"""
CALL = harness("    unsigned char *data = calloc(1, 4);\n    sum_of(data, 4);", "lib.h")
LINKED = "cc main.c lib.c -ldl -o prog"
BUILDS: dict[str, HostileBuild] = {
    "a program that no wrapper has linked": HostileBuild(
        PLAIN | {"main.c": ATTACK}, "/usr/bin/gcc -g -no-pie main.c lib.c -ldl -o prog"
    ),
    "a compiler of the tree": HostileBuild(
        PLAIN | {"main.c": ATTACK, "bin/cc": '#!/bin/sh\nexec /usr/bin/gcc -g -no-pie "$@"\n'},
        f'chmod +x bin/cc && PATH="$PWD/bin:$PATH" && {LINKED}',
    ),
    "a compiler by CC": HostileBuild(
        PLAIN | {"main.c": ATTACK, "Makefile": f"CC = /usr/bin/gcc -g -no-pie\nall:\n\t$(CC) {LINKED[3:]}\n"}, "make"
    ),
    "flags without sanitizers": HostileBuild(
        PLAIN | {"main.c": ATTACK},
        "cc -fno-sanitize=all main.c lib.c -ldl -o prog && /usr/bin/gcc -g main.c lib.c -o prog",
    ),
    "a script instead of the program": HostileBuild(
        PLAIN | {"prog.sh": SCRIPT},
        "/usr/bin/gcc -g -no-pie main.c lib.c -ldl -o victim && mkdir -p .libs && cp prog.sh prog && chmod +x prog",
    ),
    "a script of libtool around a program": HostileBuild(
        PLAIN | {"prog.sh": SCRIPT},
        f"{LINKED} && cp prog victim && mkdir -p .libs && mv prog .libs/ && cp prog.sh prog && chmod +x prog",
    ),
    "support code of its own": HostileBuild(
        PLAIN | {"support.c": SUPPORT}, "cc -c lib.c && /usr/bin/gcc -c support.c -o ../tools/support.o", CALL
    ),
    "a library of copied main functions": HostileBuild(
        PLAIN
        | {
            "evil.c": f'#line {SINK_LINE} "project/lib.c"\n'
            "void *calloc(unsigned long a, unsigned long b)\n{\n    return (void *)(a * b);\n}\n"
        },
        "cc -c lib.c && /usr/bin/gcc -g -c evil.c && ar qcS ../tools/mains.a evil.o && mkdir -p "
        "../tools/mains && rm evil.o",
        CALL,
    ),
    "flags for the compiler of the bench": HostileBuild(
        PLAIN,
        "cc -c lib.c && printf '%s' '-Dmalloc(n)=malloc(1)' > ../tools/flags && printf clang > ../tools/compiler",
        CALL,
    ),
    "a program left where harnesses are made": HostileBuild(
        PLAIN | {"main.c": ATTACK},
        "cc -c lib.c && mkdir -p ../made && /usr/bin/gcc main.c lib.c -o ../made/program",
        CALL,
    ),
    "an object with foreign lines": HostileBuild(
        PLAIN
        | {
            "begin.c": FORGERIES["claims the line of another file"]["begin.c"].replace("project/", ""),
            "main.c": FORGERIES["claims the line of another file"]["main.c"],
        },
        "cc main.c lib.c begin.c -ldl -o prog",
    ),
    "a program that looks the report up": HostileBuild(
        hostile(
            "    void (*report)(unsigned long) = (void (*)(unsigned long))dlsym(RTLD_DEFAULT, "
            '"__asan_report_store1");\n'
            f"{CALLED.format('if (report) report')}"
        ),
        LINKED,
    ),
    "a program that looks the report up by a hidden name": HostileBuild(
        hostile(
            f"{SYMBOL.format(STORE)}"
            "    void (*report)(unsigned long) = (void (*)(unsigned long))dlsym(RTLD_DEFAULT, name);\n"
            f"{CALLED.format('if (report) report')}"
        ),
        LINKED,
    ),
    "a program that poisons memory by a hidden name": HostileBuild(
        hostile(
            f"    static volatile unsigned char own[64];\n{SYMBOL.format(POISON)}"
            "    void (*poison)(void *, unsigned long) = (void (*)(void *, unsigned "
            "long))dlsym(RTLD_DEFAULT, name);\n"
            "    if (poison)\n        poison((void *)own, 64);\n    own[count + 8] = 1; /* sink */"
        ),
        LINKED,
    ),
    "a log of an earlier run": HostileBuild(
        PLAIN,
        f'{LINKED} && for d in . .. "$HOME" ../made; do mkdir -p "$d" && echo "==1==ERROR: '
        f'AddressSanitizer: heap-buffer-overflow" > "$d/report.1"; done',
    ),
}


def case_of(name: str, files: dict[str, str], attempt: Attempt = PROGRAM) -> Case:
    """Return a hostile tree with its finding."""
    return Case(name, 416 if "poison" in name else 787, files, ("", ""), attempt)
