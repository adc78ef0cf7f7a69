/* The runtime of slots (c2rust/slots.py): chooses at the start of a program which functions run in Rust.
 *
 * It is linked into each program and shared library that has slots, and serves the slots of that module.  Variables of
 * the environment name functions, as "*", as names between commas, or as "@FILE" with a name a line:
 *
 *   JARVIS_C2RUST_LIBRARY  the shared library with `jvr_NAME` for each function it implements
 *   JARVIS_C2RUST_RUST     functions to run in Rust, where the library has them
 *   JARVIS_C2RUST_TRAP     functions that end the process with exit code 97 when they are called
 *   JARVIS_C2RUST_TRACE    functions whose first call is logged
 *   JARVIS_C2RUST_SHADOW   functions whose calls in Rust are sampled and compared with C (shadow.c)
 *   JARVIS_C2RUST_INPUTS   a plan of calls with generated arguments, made in place of the program (inputs.c)
 *   JARVIS_C2RUST_LOG      a file that gets a line for each event: event, program, process id, and for `start` the
 *                          number of slots and of functions in Rust, else name, file and line; between tabs
 *
 * A program without these variables is not changed.  Thread-safe: slots are written before other constructors run, and
 * later only by atomic exchange.  Lines of the log are single writes; no descriptor stays open.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRAPPED 97
#define UNUSABLE 98
#define LINE_BYTES 4096
#define NAME_BYTES 1024
#define MOST_LIST_BYTES (16 << 20)
#define MODULE __attribute__((visibility("hidden")))

/* Written by c2rust/slots.py. `cell` is what the trampoline jumps through, `monitored` the entry that comes here
 * by `enter`; `target` is where a traced call goes on, null for a trap. */
struct slot {
    const char *name, *file;
    long line;
    void **cell;
    void *original, *monitored, *enter, *target;
};

extern struct slot __start_jv_slots[] __attribute__((weak, visibility("hidden")));
extern struct slot __stop_jv_slots[] __attribute__((weak, visibility("hidden")));
extern char *program_invocation_short_name;
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror
#pragma weak dladdr
#pragma weak dladdr1

MODULE void jv_enter(void);
MODULE void *jv_dispatch(struct slot *slot, void *registers);

static char log_path[LINE_BYTES];

/* Open where a filter refuses to open files. */
static int no_log_file = -1, *log_file = &no_log_file;

/* Shadow runs in the module that is loaded first, for functions of modules whose constructors run before its own. */
static void find_log(void)
{
    const char *path = secure_getenv("JARVIS_C2RUST_LOG");
    if (path && strlen(path) < sizeof log_path)
        strcpy(log_path, path);
}

static void write_log(const char *line, int length)
{
    if (length <= 0 || !log_path[0])
        return;
    int file = *log_file < 0 ? open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : *log_file;
    if (file < 0)
        return;
    ssize_t written = write(file, line, length < LINE_BYTES ? (size_t)length : LINE_BYTES - 1);
    (void)written;
    if (file != *log_file)
        close(file);
}

static void log_slot(const char *event, const struct slot *slot)
{
    char line[LINE_BYTES];
    write_log(line, snprintf(line, sizeof line, "%s\t%s\t%d\t%s\t%s\t%ld\n", event, program_invocation_short_name,
                             (int)getpid(), slot->name, slot->file, slot->line));
}

static void fail(const char *what, const char *why)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "unusable\t%s\t%d\t%s: %s\n", program_invocation_short_name,
                          (int)getpid(), what, why);
    write_log(line, length);
    fprintf(stderr, "jarvis c2rust: %s: %s\n", what, why);
    _exit(UNUSABLE);
}

/* A set of names: open addressing over the text of the list, apart from the heap of the program. */
struct names {
    int all;
    char *text;
    const char **table;
    size_t capacity;
};

static uint64_t hash_of(const char *name)
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static const char **place_of(const struct names *names, const char *name)
{
    size_t at = hash_of(name) & (names->capacity - 1);
    while (names->table[at] && strcmp(names->table[at], name))
        at = (at + 1) & (names->capacity - 1);
    return &names->table[at];
}

static int contains(const struct names *names, const char *name)
{
    return names->all || (names->capacity && *place_of(names, name));
}

static void *pages(size_t bytes)
{
    void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap", strerror(errno));
    return memory;
}

static char *read_list(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) || facts.st_size > MOST_LIST_BYTES)
        fail(path, file < 0 ? strerror(errno) : "not a list of names");
    char *text = pages((size_t)facts.st_size + 1);
    size_t length = 0;
    ssize_t part;
    while (length < (size_t)facts.st_size && (part = read(file, text + length, (size_t)facts.st_size - length)) > 0)
        length += (size_t)part;
    close(file);
    return text;
}

static struct names names_of(const char *variable)
{
    struct names names = {0};
    const char *value = secure_getenv(variable), separators[] = ",\n";
    if (!value || !*value)
        return names;
    if (!strcmp(value, "*")) {
        names.all = 1;
        return names;
    }
    names.text = *value == '@' ? read_list(value + 1) : strcpy(pages(strlen(value) + 1), value);
    size_t count = 1;
    for (const char *byte = names.text; *byte; byte++)
        count += *byte == ',' || *byte == '\n';
    for (names.capacity = 16; names.capacity < 2 * count; names.capacity *= 2)
        ;
    names.table = pages(names.capacity * sizeof *names.table);
    char *rest;
    for (char *name = strtok_r(names.text, separators, &rest); name; name = strtok_r(0, separators, &rest))
        *place_of(&names, name) = name;
    return names;
}

static void *open_library(const struct names *rust)
{
    const char *path = secure_getenv("JARVIS_C2RUST_LIBRARY");
    if (!path || !*path || (!rust->all && !rust->capacity))
        return 0;
    if (!dlopen || !dlsym || !dlerror)
        fail(path, "a statically linked program cannot load a library");
    /* Lazily: the library refers to C functions of the whole project, and a program may have taken a part of them. */
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        fail(path, dlerror());
    return library;
}

static void *implementation(void *library, const char *name)
{
    char symbol[NAME_BYTES];
    int length = snprintf(symbol, sizeof symbol, "jvr_%s", name);
    return length < NAME_BYTES ? dlsym(library, symbol) : 0;
}

/* Without the name of the program; /proc need not be there.  Only glibc passes them to constructors. */
static char **program_arguments;

#include "shadow.c"

/* For each slot of the module, if some are shadowed. */
static struct watch *watches;

static struct names traces;

static struct watch *watch_of(const struct slot *slot)
{
    struct watch *watch = watches ? watches + (slot - __start_jv_slots) : 0;
    return watch && watch->slot ? watch : 0;
}

static void shadow_slot(struct slot *slot)
{
    if (!watches)
        watches = pages((size_t)(__stop_jv_slots - __start_jv_slots) * sizeof *watches);
    watches[slot - __start_jv_slots] = (struct watch){.slot = slot, .target = slot->target, .on = 1};
    watches[slot - __start_jv_slots].registers = REGISTERS;
}

__attribute__((destructor)) static void end_shadow(void)
{
    if (watches)
        jv_shadow_end(watches, (size_t)(__stop_jv_slots - __start_jv_slots));
}

/* The name of a global function as if it were local to its file (c2rust/slots.py, unit_name), or 0. */
static const char *local_name(const struct slot *slot, char *name)
{
    const char *base = strrchr(slot->file, '/'), *file = slot->file;
    if (base && (file[0] == '/' || !strncmp(file, "../", 3)))
        file = base + 1;
    base = strrchr(file, '/');
    const char *suffix = strrchr(file, '.');
    size_t length = suffix && suffix > (base ? base + 1 : file) ? (size_t)(suffix - file) : strlen(file), at = 0;
    if (length + strlen(slot->name) + 3 > NAME_BYTES)
        return 0;
    for (; at < length; at++)
        name[at] = (file[at] >= '0' && file[at] <= '9') || (file[at] >= 'a' && file[at] <= 'z') ||
                   (file[at] >= 'A' && file[at] <= 'Z') ? file[at] : '_';
    strcpy(stpcpy(name + at, "__"), slot->name);
    return name;
}

/* A function that is static in another variant of its file has that name in the lists. */
static void take_local_name(struct slot *slot, const struct names *lists, int count)
{
    char local[NAME_BYTES];
    int is_listed = 0;
    for (int at = 0; at < count; at++)
        if (contains(&lists[at], slot->name))
            return;
    for (int at = 0; at < count && local_name(slot, local); at++)
        is_listed |= contains(&lists[at], local);
    if (is_listed)
        slot->name = strcpy(pages(strlen(local) + 1), local);
}

/* The name of a `main` is FILE__main: there is no frame above it to compare. */
static int is_main(const char *name)
{
    size_t length = strlen(name);
    return length >= 6 && !strcmp(name + length - 6, "__main");
}

#include "coverage.c"
#include "inputs.c"

__attribute__((constructor(101))) static void choose(int count, char **arguments)
{
#ifdef __GLIBC__
    program_arguments = count > 0 ? arguments + 1 : 0;
#endif
    find_log();
    struct names rust = names_of("JARVIS_C2RUST_RUST"), trap = names_of("JARVIS_C2RUST_TRAP");
    struct names trace = names_of("JARVIS_C2RUST_TRACE"), shadowed = names_of("JARVIS_C2RUST_SHADOW");
    const struct names lists[] = {rust, trap, trace, shadowed};
    const char *inputs = secure_getenv("JARVIS_C2RUST_INPUTS");
    has_inputs = inputs && *inputs;
    void *library = open_library(&rust);
    has_library = library != 0;
    long in_rust = 0;
    for (struct slot *slot = __start_jv_slots; slot < __stop_jv_slots; slot++) {
        take_local_name(slot, lists, sizeof lists / sizeof *lists);
        void *function = library && contains(&rust, slot->name) ? implementation(library, slot->name) : 0;
        in_rust += function != 0;
        slot->target = function ? function : slot->original;
        slot->enter = (void *)jv_enter;
        if (contains(&trap, slot->name))
            slot->target = 0;
        if (function && slot->target && contains(&shadowed, slot->name) && !is_main(slot->name))
            shadow_slot(slot);
        if (has_inputs)
            *slot->cell = slot->original;
        else if (!slot->target || contains(&trace, slot->name) || watch_of(slot))
            *slot->cell = slot->monitored;
        else
            *slot->cell = slot->target;
    }
    char line[LINE_BYTES];
    write_log(line, snprintf(line, sizeof line, "start\t%s\t%d\t%ld\t%ld\n", program_invocation_short_name,
                             (int)getpid(), (long)(__stop_jv_slots - __start_jv_slots), in_rust));
    if (watches)
        jv_shadow_start(watches, (size_t)(__stop_jv_slots - __start_jv_slots), __start_jv_slots);
    traces = trace;
}

/* Logs the first call of a traced function. */
static void log_reached(struct slot *slot, struct watch *watch)
{
    if (is_doubled()) /* cells belong to the data that is compared */
        return;
    if (!watch ? __atomic_exchange_n(slot->cell, slot->target, __ATOMIC_ACQ_REL) == slot->monitored
               : contains(&traces, slot->name) && !__atomic_exchange_n(&watch->reached, 1, __ATOMIC_ACQ_REL))
        log_slot("reached", slot);
}

/* Called by jv_enter with the arguments of the function saved; returns where to jump. */
void *jv_dispatch(struct slot *slot, void *registers)
{
    int saved = errno;
    struct watch *watch = watch_of(slot);
    if (!slot->target) {
        log_slot("trap", slot);
        _exit(TRAPPED);
    }
    if (!watches || !jv_shadow_note(slot, registers))
        log_reached(slot, watch);
    errno = saved;
    return watch ? jv_shadow_before(watch, registers) : slot->target;
}

/* Saves all registers that may hold arguments of a call, asks jv_dispatch, and jumps. */
#if defined(__x86_64__)
__asm__(".text\n.hidden jv_enter\n.globl jv_enter\n.type jv_enter, @function\njv_enter:\n\tendbr64\n"
        "\tpushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\tpushq %r8\n\tpushq %r9\n\tpushq %rax\n\tpushq %r10\n"
        "\tsubq $136, %rsp\n\tmovups %xmm0, (%rsp)\n\tmovups %xmm1, 16(%rsp)\n\tmovups %xmm2, 32(%rsp)\n"
        "\tmovups %xmm3, 48(%rsp)\n\tmovups %xmm4, 64(%rsp)\n\tmovups %xmm5, 80(%rsp)\n\tmovups %xmm6, 96(%rsp)\n"
        "\tmovups %xmm7, 112(%rsp)\n\tmovq %r11, %rdi\n\tmovq %rsp, %rsi\n\tcall jv_dispatch\n\tmovq %rax, %r11\n"
        "\tmovups (%rsp), %xmm0\n\tmovups 16(%rsp), %xmm1\n\tmovups 32(%rsp), %xmm2\n\tmovups 48(%rsp), %xmm3\n"
        "\tmovups 64(%rsp), %xmm4\n\tmovups 80(%rsp), %xmm5\n\tmovups 96(%rsp), %xmm6\n\tmovups 112(%rsp), %xmm7\n"
        "\taddq $136, %rsp\n\tpopq %r10\n\tpopq %rax\n\tpopq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n"
        "\tpopq %rdi\n\tjmp *%r11\n\t.size jv_enter, .-jv_enter\n");
#elif defined(__aarch64__)
__asm__(".text\n.hidden jv_enter\n.globl jv_enter\n.type jv_enter, %function\njv_enter:\n\thint 34\n"
        "\tstp x29, x30, [sp, -224]!\n\tmov x29, sp\n\tstp x0, x1, [sp, 16]\n\tstp x2, x3, [sp, 32]\n"
        "\tstp x4, x5, [sp, 48]\n\tstp x6, x7, [sp, 64]\n\tstp x8, x9, [sp, 80]\n\tstp q0, q1, [sp, 96]\n"
        "\tstp q2, q3, [sp, 128]\n\tstp q4, q5, [sp, 160]\n\tstp q6, q7, [sp, 192]\n\tmov x0, x17\n\tmov x1, sp\n\tbl jv_dispatch\n"
        "\tmov x16, x0\n\tldp x0, x1, [sp, 16]\n\tldp x2, x3, [sp, 32]\n\tldp x4, x5, [sp, 48]\n"
        "\tldp x6, x7, [sp, 64]\n\tldp x8, x9, [sp, 80]\n\tldp q0, q1, [sp, 96]\n\tldp q2, q3, [sp, 128]\n"
        "\tldp q4, q5, [sp, 160]\n\tldp q6, q7, [sp, 192]\n\tldp x29, x30, [sp], 224\n\tbr x16\n"
        "\t.size jv_enter, .-jv_enter\n");
#else
#error "slots: x86_64 and aarch64 only"
#endif
