/* Calls functions with generated arguments, in place of the program.  Included by runtime.c.
 *
 * JARVIS_C2RUST_INPUTS is a plan, a text file (c2rust/inputs.py).  After a line `@ NAME` with the name of a function
 * come its inputs, each a block of lines:
 *
 *   input NUMBER
 *   o SIZE             an object of zeros; numbers count from 0
 *   w OFFSET HEX       bytes of the last object
 *   p OFFSET OBJECT    a pointer in the last object
 *   f OFFSET FUNCTION  a pointer to a function in the last object: "=NAME", or "-" for one that returns 0
 *   g VALUE, s VALUE   an argument in a general register, on the stack; hexadecimal
 *                      (a type that it was extended from may follow)
 *   G OBJECT, S OBJECT the same, the address of an object or a function
 *   v BITS             an argument in a vector register; hexadecimal
 *   r OBJECT OFFSET, x OBJECT OFFSET, m OBJECT OFFSET
 *                      a word of an object in a general register, in a vector register, on the stack
 *   l OBJECT OFFSET    the next object is what a pointer in an object refers to
 *   c NAME             a call in C with the arguments so far; its result is the next object, and the arguments begin again
 *
 * Each input runs in a process of its own, so that it may crash, loop or end the process.  Without a function in Rust, C
 * is called alone, and objects end before a page that cannot be accessed: a call that returns is logged as `usable`.  With
 * functions in Rust, only these are called, and shadow compares each call with C; objects are blocks of malloc.  Events of
 * the log, after program, process id and name: `tried` once a function; `usable` with the number of the input, and how
 * many features of the function and of its callees no earlier input of it had (coverage.c); `operands` with the number,
 * and those of unequal comparisons, as BYTES:ONE:OTHER; `called` with it before a call in Rust and `returned` after it,
 * `ended` with it and how the process ended; for a few inputs with small objects, `recorded` with it, the general and the
 * vector register of the result, and the objects after the call, if it also returns when objects begin after such a page.
 * The program ends with exit code 0.
 */
#define MOST_OBJECTS 256
#define MOST_LINKS 1024
#define STACK_WORDS 8
#define MOST_LOOPS 8
#define MOST_LOOPS_RUST 3
#define MICROSECONDS_INPUT 100000
#define SECONDS_RUST 2
#define MOST_SECONDS 8
#define MOST_SECONDS_RUST 40
#define MOST_RECORDED 24
#define MOST_RECORDED_BYTES 256

struct link {
    void *place;
    long object, offset; /* -1 for a function, for the address of an object */
    void *function;
};

struct arguments {
    uint64_t general[REGISTERS], stack[STACK_WORDS];
    double vector[VECTORS];
    int generals, stacks, vectors, objects, links;
    char *object[MOST_OBJECTS];
    size_t size[MOST_OBJECTS];
    struct link link[MOST_LINKS];
};

static int has_inputs, has_library, is_guarded_before;

/* A result in a general register, and one in a vector register: where x86-64 returns this structure. */
struct returned {
    uint64_t general;
    double vector;
};

/* For callbacks: what a number of any type is returned in is zero. */
static struct returned return_zero(void)
{
#ifdef __aarch64__
    register double vector __asm__("d0") = 0;
    __asm__ volatile("" : : "w"(vector));
#endif
    return (struct returned){0, 0};
}

static struct slot *slot_named(const char *name, size_t length)
{
    for (struct slot *slot = __start_jv_slots; slot < __stop_jv_slots; slot++)
        if (!strncmp(slot->name, name, length) && !slot->name[length])
            return slot;
    return 0;
}

/* An input that names a function of another program is not usable. */
static struct slot *slot_or_exit(const char *name)
{
    struct slot *slot = slot_named(name, strlen(name));
    if (!slot)
        _exit(1);
    return slot;
}

static char *guarded(size_t size)
{
    size_t whole = (size + PAGE - 1) / PAGE * PAGE;
    char *start = pages(whole + PAGE);
    mprotect(is_guarded_before ? start : start + whole, PAGE, PROT_NONE);
    return is_guarded_before ? start + PAGE : start + whole - size;
}

static char *new_object(size_t size, int in_heap)
{
    if (!in_heap)
        return guarded(size ? size : 1);
    char *block = malloc(size ? size : 1);
    return block ? memset(block, 0, size) : block;
}

static void write_bytes(char *to, size_t room, const char *hex)
{
    char digits[3] = {0};
    for (; room && hex[0] && hex[1]; hex += 2, room--, to++) {
        digits[0] = hex[0], digits[1] = hex[1];
        *to = (char)strtoul(digits, 0, 16);
    }
}

static void add_link(struct arguments *all, void *place, const char *object)
{
    int is_function = *object == '-' || *object == '=';
    void *function = *object == '=' ? slot_or_exit(object + 1)->original : (void *)return_zero;
    if (all->links == MOST_LINKS)
        _exit(1);
    all->link[all->links++] = (struct link){place, is_function ? -1 : strtol(object, 0, 10), -1, function};
}

/* Writes the links to objects that exist, and to functions. */
static void write_links(struct arguments *all)
{
    int left = 0;
    for (int at = 0; at < all->links; at++) {
        struct link link = all->link[at];
        char *address = link.object >= 0 && link.object < all->objects ? all->object[link.object] : link.function;
        if (link.object >= all->objects)
            all->link[left++] = link;
        else if (link.offset < 0)
            memcpy(link.place, &address, sizeof address);
        else
            memcpy(link.place, address + link.offset, sizeof address);
    }
    all->links = left;
}

static void add_object(struct arguments *all, char *address, size_t size)
{
    if (all->objects == MOST_OBJECTS)
        _exit(1);
    all->size[all->objects] = size;
    all->object[all->objects++] = address;
}

static void read_object_line(struct arguments *all, char kind, char *rest, int in_heap)
{
    char *end;
    size_t number = strtoul(rest, &end, 10);
    if (kind == 'o') {
        add_object(all, new_object(number, in_heap), number);
        return;
    }
    if (kind == 'l') {
        char *address = 0;
        write_links(all);
        if (number < (size_t)all->objects && all->object[number])
            memcpy(&address, all->object[number] + strtoul(end, 0, 10), sizeof address);
        add_object(all, address, 0);
        return;
    }
    int last = all->objects - 1;
    if (last < 0 || number > all->size[last] || (kind != 'w' && number + sizeof(char *) > all->size[last]))
        return;
    if (kind == 'w')
        write_bytes(all->object[last] + number, all->size[last] - number, end + 1);
    else
        add_link(all, all->object[last] + number, *end ? end + 1 : "-");
}

/* Returns the place of the next argument, null if there are too many. */
static void *argument_place(struct arguments *all, char kind)
{
    if (strchr("gGr", kind))
        return all->generals < REGISTERS ? all->general + all->generals++ : 0;
    if (strchr("vx", kind))
        return all->vectors < VECTORS ? all->vector + all->vectors++ : 0;
    return all->stacks < STACK_WORDS ? all->stack + all->stacks++ : 0;
}

static void read_argument_line(struct arguments *all, char kind, char *rest)
{
    uint64_t value = strtoull(rest, 0, 16);
    void *place = argument_place(all, kind);
    if (!place)
        return;
    if (!strchr("GSrxm", kind)) {
        memcpy(place, &value, sizeof value);
        return;
    }
    add_link(all, place, rest);
    if (strchr("rxm", kind))
        all->link[all->links - 1].offset = strtol(strchrnul(rest, ' '), 0, 10);
}

#ifdef __x86_64__
typedef struct returned returned_type;
#else
typedef uint64_t returned_type;
#endif
typedef returned_type function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
#ifdef __aarch64__
                          uint64_t, uint64_t,
#endif
                          double, double, double, double, double, double, double, double, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static struct returned call_function(const struct slot *slot, const struct arguments *all)
{
    const uint64_t *g = all->general, *s = all->stack;
    const double *v = all->vector;
    returned_type result = ((function *)*slot->cell)(g[0], g[1], g[2], g[3], g[4], g[5],
#ifdef __aarch64__
                              g[6], g[7],
#endif
                              v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6],
                              s[7]);
#ifdef __x86_64__
    return result;
#else
    register double vector __asm__("d0");
    __asm__ volatile("" : "=w"(vector));
    return (struct returned){result, vector};
#endif
}

/* Calls a function before; all objects so far are complete. */
static void set_up(struct arguments *all, const char *name)
{
    struct slot *slot = slot_or_exit(name);
    write_links(all);
    add_object(all, (char *)(uintptr_t)call_function(slot, all).general, 0);
    all->generals = all->stacks = all->vectors = 0;
}

/* Reads the lines of an input up to the next one. */
static void read_input(struct arguments *all, const char *text, int in_heap)
{
    while (*text && *text != 'i' && *text != '@') {
        const char *end = strchrnul(text, '\n');
        char *line = strndup(text, (size_t)(end - text));
        if (strchr("owpfl", *line))
            read_object_line(all, *line, line + 2, in_heap);
        else if (*line == 'c')
            set_up(all, line + 2);
        else
            read_argument_line(all, *line, line + 2);
        free(line);
        text = *end ? end + 1 : end;
    }
    write_links(all);
}

static void log_input(const char *event, const struct slot *slot, long number, const char *how)
{
    char line[LINE_BYTES];
    write_log(line, snprintf(line, sizeof line, "%s\t%s\t%d\t%s\t%ld%s\n", event, program_invocation_short_name,
                             (int)getpid(), slot->name, number, how));
}

static void record(const struct slot *slot, long number, const struct arguments *all, struct returned result)
{
    char facts[2 * MOST_RECORDED_BYTES + MOST_OBJECTS + 64], *end = facts;
    uint64_t vector;
    size_t bytes = 0;
    for (int at = 0; at < all->objects; at++)
        bytes += all->size[at];
    if (bytes > MOST_RECORDED_BYTES)
        return;
    memcpy(&vector, &result.vector, sizeof vector);
    end += sprintf(end, "\t%lx\t%lx\t", (unsigned long)result.general, (unsigned long)vector);
    for (int at = 0; at < all->objects; at++) {
        end += sprintf(end, at ? "," : "");
        write_hex(end, (const unsigned char *)all->object[at], (int)all->size[at]);
        end += 2 * all->size[at];
    }
    *end = 0;
    log_input("recorded", slot, number, facts);
}

static void log_usable(const struct slot *slot, long number)
{
    char facts[MOST_OPERANDS * 48], *end = facts;
    int own = new_features(0), callees = new_features(1);
    sprintf(facts, "\t%d\t%d", own, callees);
    log_input("usable", slot, number, facts);
    if (!own && !callees)
        return;
    for (int at = 0; at < coverage.now->operand_count; at++) {
        const struct operands *found = coverage.now->operands + at;
        end += sprintf(end, "%s%d:%lx:%lx", at ? "," : "\t", found->bytes, (unsigned long)found->one,
                       (unsigned long)found->other);
    }
    *end = 0;
    log_input("operands", slot, number, facts);
}

static void limit_input(int in_rust)
{
    alarm(in_rust ? MOST_SECONDS_RUST : MOST_SECONDS); /* a machine may be busy */
    if (!in_rust)
        limit_time(MICROSECONDS_INPUT);
}

/* Returns whether a call in C also returns when nothing before its objects can be accessed. */
static int stays_behind_start(const struct slot *slot, const char *text, struct arguments *all)
{
    pid_t process = fork();
    if (process)
        return process > 0 && !reap(process);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit_input(0);
    is_guarded_before = 1;
    read_input(all, text, 0);
    call_function(slot, all);
    _exit(0);
}

__attribute__((noreturn)) static void run_input(struct slot *slot, const char *text, long number)
{
    static struct arguments all;
    struct rlimit seconds = {SECONDS_RUST, SECONDS_RUST + 1}, none = {0, 0};
    int null = open("/dev/null", O_RDWR), in_rust = watch_of(slot) != 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, 0), dup2(null, 1), dup2(null, 2);
    setrlimit(RLIMIT_CPU, &seconds), setrlimit(RLIMIT_CORE, &none);
    limit_input(in_rust);
    int recordable = !in_rust && number < MOST_RECORDED && stays_behind_start(slot, text, &all);
    read_input(&all, text, in_rust);
    if (in_rust) {
        log_input("called", slot, number, "");
        *slot->cell = slot->monitored;
        watch_of(slot)->calls = number;
    }
    coverage.on = !in_rust;
    struct returned result = call_function(slot, &all);
    coverage.on = 0;
    if (in_rust) {
        end_shadow();
        log_input("returned", slot, number, "");
    } else {
        if (recordable)
            record(slot, number, &all, result);
        log_usable(slot, number);
    }
    _exit(0);
}

/* Runs the inputs of a function; stops after some that do not end. */
static void run_inputs(struct slot *slot, char *text)
{
    int most_loops = watch_of(slot) ? MOST_LOOPS_RUST : MOST_LOOPS;
    log_input("tried", slot, 0, "");
    if (!watch_of(slot))
        begin_coverage(slot);
    for (int loops = 0; *text && *text != '@' && loops < most_loops;) {
        char *end = strchrnul(text, '\n'), how[64];
        char *next = *end ? end + 1 : end;
        if (*text == 'i') {
            long number = strtol(text + 6, 0, 10);
            pid_t process = fork();
            if (!process)
                run_input(slot, next, number);
            int status = process < 0 ? -1 : reap(process), signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            loops += signal == SIGALRM || signal == SIGPROF || signal == SIGXCPU || signal == SIGKILL;
            snprintf(how, sizeof how, "\t%s %d", signal ? "signal" : "exit", signal ? signal : WEXITSTATUS(status));
            if (status)
                log_input("ended", slot, number, how);
        }
        text = next;
    }
}

extern char _start[] __attribute__((weak, visibility("hidden")));

/* After the constructors of the program with a priority, so that its data is as complete as it can be. */
__attribute__((constructor)) static void call_with_inputs(void)
{
    if (!has_inputs)
        return;
    char *text = read_list(secure_getenv("JARVIS_C2RUST_INPUTS"));
    while ((text = strchr(text, '@'))) {
        char *end = strchrnul(text, '\n');
        struct slot *slot = end > text + 2 ? slot_named(text + 2, (size_t)(end - text) - 2) : 0;
        if (slot && (!has_library || watch_of(slot)))
            run_inputs(slot, *end ? end + 1 : end);
        text = end;
    }
    if (_start)
        _exit(0);
}
