"""Attempts that must prove nothing, by the program (`cases.py`) that they are made on.

CHEATS break a rule of harnesses, fail in themselves, or misbehave; MISUSES call the fixed code with arguments that no
caller of its API may pass, and may at most reproduce the finding.
"""

from dataclasses import replace

from jarvis_workers.sec.proof.proof import Attempt, ProofFile, ProofTarget, TreeLine
from tests.sec.proof.cases import Case, harness

RECORD = "record.h"
DATA = "    unsigned char *data = malloc(101);\n    memset(data, 'a', 101);\n    data[0] = 100;\n"
DECODE = "record_decode(data, 101)"
CALL = f"{DATA}    record_decode(data, 101);"
REPORT = (
    "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000015 at pc 0x4e1f8f bp 0x7ffd sp 0x7ffd\\n"
    "WRITE of size 100 at 0x602000000015 thread T0\\n    #0 0x4e1f8e in record_decode record.c:12\\n"
)


def source(code: str) -> Attempt:
    """Return a harness with this text."""
    return Attempt("harness", code=code)


def pushes(change: str, *files: ProofFile) -> Attempt:
    """Return a harness that changes a queue of two letters, and then pushes nine."""
    push = "    for (int i = 0; i < 9; i++)\n        queue_push(queue, 'a');"
    made = harness(f"    struct queue *queue = queue_make(2);\n{change}\n{push}", "queue.h")
    return replace(made, files=files)


CHEATS: dict[str, Attempt] = {
    "does not compile": harness("    record_decode(", RECORD),
    "is not C": source("this is not C, it is a sentence with main( in it"),
    "loops": harness("    for (volatile int i = 0;; i++)\n        ;", RECORD),
    "forks": harness("    for (;;)\n        fork();", "record.h"),
    "fills the disk": harness(
        '    char name[32];\n    for (int i = 0;; i++) {\n        snprintf(name, sizeof name, "f%d", i);\n'
        '        FILE *f = fopen(name, "w");\n        if (f)\n            fclose(f);\n    }',
        RECORD,
    ),
    "takes all memory": harness("    for (;;)\n        memset(malloc(1 << 26), 1, 1 << 26);", RECORD),
    "opens the network": source("int socket(int, int, int);\nint main(void)\n{\n    return socket(2, 1, 0);\n}\n"),
    "prints a report": harness(f'    fprintf(stderr, "{REPORT}");\n    exit(1);', RECORD),
    "writes a report": source(f'#include <unistd.h>\nint main(void)\n{{\n    write(2, "{REPORT}", 200);\n}}\n'),
    "calls the kernel": source("long syscall(long, ...);\nint main(void)\n{\n    return syscall(1, 2, 0, 0);\n}\n"),
    "has assembly": source('int main(void)\n{\n    asm volatile("ud2");\n}\n'),
    "reads its environment": source(
        'char *getenv(const char *);\nint main(void)\n{\n    return !getenv("JARVIS_PROOF");\n}\n'
    ),
    "starts a program": source('int system(const char *);\nint main(void)\n{\n    return system("id");\n}\n'),
    "fails in itself": harness("    volatile int *p = 0;\n    *p = 1;", RECORD),
    "overflows its own buffer": harness(
        f'{DATA}    unsigned char *p = malloc(4);\n    memcpy(p, data, 101);\n    printf("%c", p[3]);', RECORD
    ),
    "leaves no stack": harness(
        "    char big[1 << 23];\n    memset(big, 1, sizeof big);\n"
        f'    unsigned char *data = malloc(101);\n    memset(data, 100, 101);\n    printf("%c%d", big[9], {DECODE});',
        RECORD,
    ),
    "has a weak function": source(
        '#include "record.h"\n__attribute__((weak)) int record_decode(const unsigned char *data, size_t size)\n{\n'
        "    return *(volatile int *)0;\n}\nint main(void)\n{\n    return record_decode(0, 0);\n}\n"
    ),
    "calls the middle of a function": harness(
        "    ((int (*)(long, long))((char *)record_decode + 20))(8, 100);", RECORD
    ),
    "jumps out of an error": source(
        "static void *place[5];\nint main(void)\n{\n    if (!__builtin_setjmp(place))\n"
        "        __builtin_longjmp(place, 1);\n}\n"
    ),
    "handles signals": source(
        "#include <signal.h>\nstatic void end(int number)\n{\n}\nint main(void)\n{\n    signal(SIGSEGV, end);\n}\n"
    ),
    "starts a thread": source(
        "#include <pthread.h>\nint main(void)\n{\n    pthread_t thread;\n    pthread_create(&thread, 0, 0, 0);\n}\n"
    ),
    "aborts": harness("    abort();", RECORD),
    "calls the runtime": source(
        "void __asan_report_load1(void *);\nint main(void)\n{\n    __asan_report_load1(0);\n}\n"
    ),
    "includes code": source(f'#define malloc(n) malloc(1)\n#include "record.c"\nint main(void)\n{{\n{CALL}\n}}\n'),
    "includes code without a macro": source(f'#include "record.c"\nint main(void)\n{{\n{CALL}\n}}\n'),
    "includes a secret": source('#include "secret.txt"\nint main(void)\n{\n    return 0;\n}\n'),
    "includes a file of the machine": source('#include "/etc/passwd"\nint main(void)\n{\n    return 0;\n}\n'),
    "includes above the tree": source('#include "../../../../../etc/passwd"\nint main(void)\n{\n    return 0;\n}\n'),
    "changes a header": source('#define size_t char\n#include "record.h"\nint main(void)\n{\n    return 0;\n}\n'),
    "joins lines": source('#inc\\\nlude "record.c"\nint main(void)\n{\n    return 0;\n}\n'),
    "names a line": source(
        '#include <stdlib.h>\n#line 12 "record.c"\nint main(void)\n{\n    *(volatile int *)0 = 1;\n}\n'
    ),
    "marks a line": source('# 12 "record.c"\nint main(void)\n{\n    *(volatile int *)0 = 1;\n}\n'),
    "replaces the function": source(
        "static int *p;\nint record_decode(const unsigned char *d, unsigned long n)\n{\n    return *p;\n}\n"
        "int main(void)\n{\n    return record_decode(0, 0);\n}\n"
    ),
    "replaces the library": source(
        '#include "record.h"\nvoid *memcpy(void *a, const void *b, size_t n)\n{\n    return *(void **)b;\n}\n'
        'int main(void)\n{\n    return record_decode((const unsigned char *)"abc", 4);\n}\n'
    ),
    "has a constructor": source(
        "static void begin(void) __attribute__((constructor));\nstatic void begin(void)\n{\n}\n"
        "int main(void)\n{\n    return 0;\n}\n"
    ),
    "puts code into data": source(
        '[[gnu::section(".text")]] const char code[] = "\\x0f\\x0b";\n'
        "int main(void)\n{\n    ((void (*)(void))code)();\n}\n"
    ),
}

QUEUE_H = """\
/* A queue of letters; make one with queue_make. */
struct queue { char *items; int used, room; };
struct queue *queue_make(int room);
int queue_push(struct queue *queue, char letter);
"""
QUEUE_C = """\
#include "queue.h"
#include <stdlib.h>
struct queue *queue_make(int room)
{
    struct queue *made = calloc(1, sizeof *made);
    if (!made || room < 1 || !(made->items = malloc(room)))
        return NULL;
    made->room = room;
    return made;
}
int queue_push(struct queue *queue, char letter)
{
    if (queue->used >= queue->room)
        return -1;
    queue->items[queue->used++] = letter; /* sink */
    return 0;
}
"""
QUEUE = Case("queue", 787, {"queue.c": QUEUE_C, "queue.h": QUEUE_H}, ("", ""), Attempt("harness"))
# By the program: what is called on its fixed version.
MISUSES: dict[str, dict[str, Attempt]] = {
    "heap_overflow": {
        "a length beyond the buffer": harness(f"{DATA}    data[0] = 200;\n    record_decode(data, 1000);", RECORD),
        "a null pointer": harness("    record_decode(NULL, 10);", RECORD),
        "a freed buffer": harness(f"{DATA}    free(data);\n    record_decode(data, 101);", RECORD),
        "a negative length": harness(f"{DATA}    data[0] = 200;\n    record_decode(data, -1);", RECORD),
    },
    "off_by_one": {
        "a size beyond the buffer": harness('    label_copy(malloc(4), 400, "abcdefgh");', "label.h"),
        "a buffer on the stack": harness('    char out[4];\n    label_copy(out, 400, "abcdefgh");', "label.h"),
        "an unterminated text": harness(
            "    char *text = malloc(8), *out = malloc(64);\n    memset(text, 'a', 8);\n    label_copy(out, 64, text);",
            "label.h",
        ),
    },
    "use_after_free": {"a static function": source("int who(void);\nint main(void)\n{\n    return who();\n}\n")},
    "null_dereference": {"an internal function": harness("    handle(NULL);", "lib.h")},
    "queue": {
        "a changed structure": pushes("    queue->room = 100;"),
        "a structure changed through a cast": pushes("    ((int *)queue)[3] = 100;"),
        "a structure changed through an address": pushes("    int *room = &(queue->room);\n    *room = 100;"),
        "a structure changed by a macro": pushes("#define SET =\n    queue->room SET 100;"),
        "a structure that is copied into": pushes("    int n = 100;\n    memcpy((char *)queue + 12, &n, sizeof n);"),
        "a structure that is printed into": pushes('    sprintf((char *)queue + 12, "zzz");'),
        "a structure that is read into": pushes(
            '    FILE *f = fmemopen("dddd", 4, "r");\n    fgets((char *)queue + 12, 4, f);'
        ),
        "a structure that is a buffer of a file": pushes(
            '    FILE *f = fopen("input", "r");\n    setvbuf(f, (char *)queue + 12, _IOFBF, 4);\n    fgetc(f);',
            ProofFile("input", b"dddd"),
        ),
        "freed memory of a structure": pushes("    free(queue->items);"),
        "shrunk memory of a structure": pushes("    realloc(queue->items, 1);"),
    },
}
# A heap overflow in the function of the record, but the finding is elsewhere, or of another class.
ELSEWHERE = ProofTarget(TreeLine("record.c", 6), 122, 4, 17)
OTHER_CLASS = ProofTarget(TreeLine("record.c", 12), 476, 4, 17)

FAKE = """\
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
static const char report[] =
    "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000015 at pc 0x4e1f8f bp 0x7ffd sp 0x7ffd\\n"
    "WRITE of size 100 at 0x602000000015 thread T0\\n    #0 0x4e1f8e in main main.c:30\\n\\n";
static void write_all(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/report.7", folder);
    FILE *file = fopen(path, "w");
    if (file && fputs(report, file) >= 0)
        fclose(file);
}
int main(void)
{
    for (char **one = environ; *one; one++)
        if (strstr(*one, "log_path") || strstr(*one, "ASAN"))
            abort();
    DIR *home = opendir("..");
    for (struct dirent *one; home && (one = readdir(home));) {
        char path[300];
        snprintf(path, sizeof path, "../%s", one->d_name);
        write_all(path);
    }
    fputs(report, stderr); /* sink */
    return 1;
}
"""
INTERFACE = """\
#include <stdio.h>
#include <stdlib.h>
extern const char *__asan_default_options(void);
int main(void)
{
    char *options = strdup(__asan_default_options());
    char *text = malloc(4);
    text[options ? 4 : 0] = 1; /* sink */
    return 0;
}
"""
# Programs that fake a report, or use the interface of the sanitizer.
HOSTILE = {
    "fakes a report": Case("fake", 122, {"main.c": FAKE}, ("", ""), Attempt("program", "main.c")),
    "uses the interface": Case(
        "interface", 122, {"main.c": f"#include <string.h>\n{INTERFACE}"}, ("", ""), Attempt("program", "main.c")
    ),
}
