/* Varied calls: a sampled call is repeated with another argument, other memory, or an allocation that fails.
 *
 * JARVIS_C2RUST_VARY is how many of them there may be for each function of a process.  Each runs in a process of its own, which compares C and Rust as the program does, and then ends: the program
 * goes on from where it was.  Variations are drawn from the name of the function, the command line and their number, so
 * that they are the same in each run.  Where C ends, loops or makes a system call that is refused, nothing is compared.
 * In programs that end at undefined behaviour, the same calls are varied: only differences that recur there count.
 * With generated arguments, C is known to be defined for these alone: there, only allocations fail.  Included by shadow.c.
 */
#define VARIED_AT_FIRST 64
#define VARIED_LATER 4
#define VARIED_OF_A_KIND 1 /* of a call whose arguments are like those of an earlier one */
#define MOST_FAILURES 4
#define MOST_FAILING 96
#define MOST_MEMBERS 128
#define MOST_ENDLESS 2
#define MOST_DIFFERENT_VARIED 16
#define MOST_ALLOCATED ((size_t)64 << 20)
#define MOST_PATH_LENGTH 2
#define VARIED_BYTES 256
#define NEAR_BYTES 8
#define NEAR_DOUBLINGS 6 /* up to VARIED_BYTES */
#define MICROSECONDS_C 250000
#define MICROSECONDS_RUST 5000000
#define VARIATION_BYTES 96

/* What a process with a varied call tells the program, in shared memory. */
struct outcome {
    int has_returned, is_compared, is_refused, is_different, is_endless, has_failed;
    char text[VARIATION_BYTES];
};

static struct {
    int active, only_failures;
    long most;
    uint64_t seed, command_line;
    const struct watch *watch;
    struct frame *frame;
    struct outcome *outcome;
} variation;

static int is_varied(void)
{
    return variation.active;
}

static uint64_t draw(uint64_t below)
{
    uint64_t word = variation.seed += 0x9E3779B97F4A7C15u;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return (word ^ word >> 31) % below;
}

static void open_variations(void)
{
    const char *inputs = secure_getenv("JARVIS_C2RUST_INPUTS"), *most = secure_getenv("JARVIS_C2RUST_VARY");
    variation.command_line = hash_of(program_invocation_short_name);
    for (char **word = program_arguments; word && *word; word++) /* without directories */
        variation.command_line = variation.command_line * 31 + hash_of(strrchr(*word, '/') ? strrchr(*word, '/') : *word);
    variation.most = most ? strtol(most, 0, 10) : 0;
    variation.only_failures = inputs && *inputs;
    variation.outcome = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (variation.outcome == MAP_FAILED)
        fail("shadow", "no shared memory");
    add_range(&excluded, (char *)&variation, (char *)(&variation + 1));
}

/* Ends this process after its children, which end with their sockets. */
static void leave_variation(void)
{
    const struct call *call = shadow->call;
    close(call->socket), close(call->holder_socket);
    reap(call->child), reap(call->holder);
    _exit(0);
}

/* In the process of a varied call, outside of C: ends it, as one in which nothing was compared. */
static void refuse_variation(void)
{
    if (!variation.active || child->running)
        return;
    variation.outcome->is_refused = 1;
    leave_variation();
}

__attribute__((format(printf, 1, 2))) static void add_text(const char *format, ...)
{
    size_t length = strlen(variation.outcome->text);
    va_list facts;
    va_start(facts, format);
    vsnprintf(variation.outcome->text + length, VARIATION_BYTES - length, format, facts);
    va_end(facts);
}

/* Addresses differ between runs and builds: they are described by the argument that has them. */
static void add_value(uint64_t value)
{
    for (int at = 0; value && at < variation.watch->registers; at++)
        if (argument_of(variation.frame, at) == value && is_pointer(value, stack_of(variation.frame))) {
            add_text(" = argument %d", at);
            return;
        }
    add_text(" = %ld", (long)value);
}

static uint64_t draw_value(uint64_t value, size_t bytes)
{
    uint64_t mask = bytes == 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * bytes) - 1;
    const uint64_t values[] = {0, 1, value + 1, value - 1, value + 1, value - 1, mask, mask >> 1, value / 2, draw(16),
                               draw(16), draw(64), 32 + draw(96), draw(256), value + draw(16),
                               value ^ (uint64_t)1 << draw(8 * bytes)};
    const struct watch *watch = variation.watch;
    if (watch->constant_count && draw(2))
        return watch->constants[draw(watch->constant_count)] & mask;
    if (watch->registers && !draw(8)) {
        uint64_t argument = argument_of(variation.frame, (int)draw((uint64_t)watch->registers));
        if (bytes == sizeof argument || !is_pointer(argument, stack_of(variation.frame)))
            return argument & mask;
    }
    return values[draw(sizeof values / sizeof *values)] & mask;
}

static uint64_t other_value(uint64_t value, size_t bytes)
{
    uint64_t other = draw_value(value, bytes);
    return other == value ? value ^ 1 : other;
}

static int is_writable(uint64_t address, const char *stack)
{
    return in_reserve(address) || in_ranges(&data, address) || is_on_stack(address, stack);
}

/* The length of a text with its NUL, 0 for other bytes. */
static uint64_t text_length(const unsigned char *bytes, uint64_t room)
{
    for (uint64_t at = 0; at < room; at++)
        if (!bytes[at] || (bytes[at] < ' ' && !strchr("\t\n\r", bytes[at])))
            return !bytes[at] && at ? at + 1 : 0;
    return 0;
}

static void vary_word(char *place, size_t bytes, uint64_t offset, const char *path)
{
    uint64_t word = 0;
    memcpy(&word, place, bytes);
    uint64_t other = other_value(word, bytes);
    memcpy(place, &other, bytes);
    add_text("%s%lu", path, (unsigned long)offset);
    add_value(other);
}

/* Draws a member that the function accesses, or any word; returns 0 if there is none.
 *
 * Only of blocks is it known where they end: elsewhere the words that follow may belong to no object, and those at the
 * pointer and near it are drawn more often.
 */
static int draw_place(uint64_t address, uint64_t end, uint64_t *offset, size_t *bytes)
{
    static const size_t sizes[] = {4, 4, 8, 1};
    const struct watch *watch = variation.watch;
    uint64_t room = end > address ? end - address : 0;
    if (watch->access_count && draw(4)) {
        const struct access *access = watch->accesses + draw(watch->access_count);
        uint64_t index = draw(access->count);
        if (access->count > 1 && watch->constant_count && draw(2))
            index = watch->constants[draw(watch->constant_count)] % access->count;
        *bytes = access->bytes, *offset = access->offset + index * access->stride;
        return *offset + *bytes <= room;
    }
    uint64_t most = in_reserve(address) ? (draw(4) ? VARIED_BYTES : room) : NEAR_BYTES << draw(NEAR_DOUBLINGS);
    room = room < most ? room : most;
    *bytes = sizes[draw(4)];
    *offset = draw(3) && room >= *bytes ? draw(room / *bytes) * *bytes : 0;
    return room >= *bytes;
}

/* A member that the function accesses, through up to MOST_PATH_LENGTH further pointers. */
struct member {
    uint64_t address, bytes, offset[MOST_PATH_LENGTH + 1];
    int length;
};

struct members {
    struct member member[MOST_MEMBERS];
    size_t count;
};

/* Lists the members in writable memory that the function may access from an address; of an array, a random element. */
static void list_members(struct members *all, struct member path, uint64_t address, const char *stack)
{
    const struct watch *watch = variation.watch;
    uint64_t end = end_of(address, stack), room = end > address ? end - address : 0, word;
    for (size_t at = 0; at < watch->access_count && is_writable(address, stack); at++) {
        const struct access *access = watch->accesses + at;
        uint64_t offset = access->offset + draw(access->count) * access->stride;
        if (offset > room || access->bytes > room - offset)
            continue;
        path.offset[path.length] = offset;
        memcpy(&word, (char *)address + offset / 8 * 8, sizeof word);
        if (access->bytes == sizeof word && is_pointer(word, stack)) {
            if (path.length++ < MOST_PATH_LENGTH)
                list_members(all, path, word, stack);
            path.length--;
        } else if (all->count < MOST_MEMBERS) {
            path.address = address + offset, path.bytes = access->bytes;
            all->member[all->count++] = path;
        }
    }
}

/* Changes one of the members that the function may access, if there are any; returns whether it did. */
static int vary_member(uint64_t pointer, const char *stack)
{
    struct members all = {.count = 0};
    list_members(&all, (struct member){0}, pointer, stack);
    if (!all.count)
        return 0;
    const struct member *member = all.member + draw(all.count);
    for (int at = 0; at < member->length; at++)
        add_text("%s%lu", at ? ">" : "+", (unsigned long)member->offset[at]);
    vary_word((char *)member->address, member->bytes, member->offset[member->length], member->length ? ">" : "+");
    return 1;
}

/* Changes a word of the memory that a pointer leads to; constants are copied first. Returns 0 if no memory is known. */
static int vary_memory(uint64_t *pointer, const char *stack, int length)
{
    const char *path = length ? ">" : "+";
    uint64_t end = end_of(*pointer, stack), room = end > *pointer ? end - *pointer : 0, word = 0, text = 0, offset;
    size_t bytes = 1;
    room = room < VARIED_BYTES ? room : VARIED_BYTES;
    if (room >= sizeof word)
        memcpy(&word, (char *)*pointer, sizeof word);
    /* The first bytes of a structure may look like a text. */
    if (!is_pointer(word, stack) && (!variation.watch->access_count || !draw(4)))
        text = text_length((unsigned char *)*pointer, room);
    if (text)
        offset = draw(text);
    else if (!draw_place(*pointer, end, &offset, &bytes))
        return 0;
    if (!is_writable(*pointer, stack)) {
        char *copy = offset + bytes <= room ? allocate(room, 0) : 0;
        if (!copy)
            return 0;
        *pointer = (uintptr_t)memcpy(copy, (void *)*pointer, room), end = *pointer + room;
    }
    uint64_t whole = offset / 8 * 8;
    word = 0;
    if (*pointer + whole + sizeof word <= end)
        memcpy(&word, (char *)*pointer + whole, sizeof word);
    if (text || !is_pointer(word, stack)) {
        if (may_be_address(word) && bytes == sizeof word) /* an integer, and half of an old address */
            bytes /= 2;
        vary_word((char *)*pointer + offset, bytes, offset, path);
        return 1;
    }
    add_text("%s%lu", path, (unsigned long)whole);
    if (length == MOST_PATH_LENGTH || !draw(4) || !vary_memory(&word, stack, length + 1))
        word = 0, add_text(" = 0");
    memcpy((char *)*pointer + whole, &word, sizeof word);
    return 1;
}

static int vary_floating(struct frame *frame)
{
    const struct watch *watch = variation.watch;
    const double values[] = {0, -0.0, 1, -1, 0.5, 2, 10, 1e10, -1e10, 1e300, __builtin_nan(""), (double)draw(16),
                             (double)draw(128), (double)draw(1024), (double)(int64_t)draw(1u << 20) / 64};
    uint64_t number = draw(2);
    double value, other;
    memcpy(&value, frame->vector[number], sizeof value);
    other = draw(3) ? values[draw(sizeof values / sizeof *values)] : draw(2) ? value + 1 : -value;
    if (watch->constant_count && !draw(4))
        other = (double)(int64_t)watch->constants[draw(watch->constant_count)];
    memcpy(frame->vector[number], &other, sizeof other);
    add_text("floating argument %d = %g", (int)number, other);
    return memcmp(&value, &other, sizeof value) != 0;
}

/* Bytes of a general register that count. */
static size_t argument_bytes(const struct watch *watch, int number)
{
    const struct traced_module *module = module_of(watch->slot);
    unsigned mask = module && number < REGISTERS_TRACED ? module->masks[watch->slot - module->slots][number] : 0;
    return mask == 0x01 ? 1 : mask == 0x03 ? 2 : mask == 0x0f ? 4 : 8;
}

/* Changes an argument, or the memory that it points to; returns whether anything changed. */
static int vary_arguments(const struct watch *watch, struct frame *frame)
{
    *variation.outcome->text = 0, variation.watch = watch, variation.frame = frame;
    if (watch->pieces && watch->piece[0].kind == 'v' && (!watch->registers || draw(2)))
        return vary_floating(frame);
    if (!watch->registers)
        return 0;
    int number = (int)draw((uint64_t)watch->registers);
    size_t bytes = argument_bytes(watch, number);
    uint64_t word = argument_of(frame, number), other = word;
    int leads_on = bytes == sizeof word && is_pointer(word, stack_of(frame));
    add_text("argument %d", number);
    if (!leads_on || !draw(8)) {
        other = leads_on ? 0 : other_value(word, bytes);
        add_value(other);
    } else if (!(draw(2) && vary_member(word, stack_of(frame))) && !vary_memory(&other, stack_of(frame), 0)) {
        return 0;
    }
    set_argument(frame, number, other);
    return 1;
}

/* Ends this process after some CPU time: a varied call may loop for ever. */
static void limit_time(long microseconds)
{
    struct itimerval time = {{0, 0}, {microseconds / 1000000, microseconds % 1000000}};
    signal(SIGPROF, SIG_DFL);
    setitimer(ITIMER_PROF, &time, 0);
}

/* After C has returned: this process runs Rust, and must not disturb the program either. */
static void confine_variation(const struct call *call)
{
    if (!variation.active)
        return;
    variation.outcome->has_returned = 1;
    replace_files(call->socket, call->holder_socket);
    keep_log_open();
    confine();
    limit_time(MICROSECONDS_RUST);
}

/* Logs that Rust ended the process, or looped, where C returned. */
static void log_end(struct watch *watch, const struct frame *frame, int status)
{
    char facts[512], *end = facts;
    end += sprintf(end, "%ld\tended\t00\t%02x\t%s", watch->calls,
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), watch->registers ? "" : "-");
    for (int at = 0; at < watch->registers; at++)
        end += sprintf(end, "%s%lx", at ? "," : "", (unsigned long)argument_of(frame, at));
    sprintf(end, "\t%s", variation.outcome->text);
    log_watch("difference", watch, facts);
}

/* Forks a process in which an allocation fails, or with other arguments. Returns 1 in it, 0 here when it has ended. */
static int start_variation(struct watch *watch, struct frame *frame, int failure)
{
    struct outcome *outcome = variation.outcome;
    *outcome = (struct outcome){.is_refused = 0};
    int *number = failure ? &watch->failed : &watch->varied;
    variation.seed = hash_of(watch->slot->name) ^ variation.command_line ^ (uint64_t)++*number << 32;
    pid_t process = clone_process();
    if (!process) {
        variation.active = 1, watch->process = getpid();
        heap->failing = failure, heap->failures = 0, heap->has_failed = &outcome->has_failed;
        if (failure)
            add_text("allocation %d fails", failure);
        for (int at = 0; !failure; at++)
            if (vary_arguments(watch, frame))
                break;
            else if (at == 8)
                leave_variation();
        heap->most = MOST_ALLOCATED;
        return 1;
    }
    int status = process < 0 ? 0 : reap(process);
    restore_offsets(&shadow->offsets);
    watch->endless += outcome->is_endless;
    if (outcome->has_returned && !outcome->is_compared && !outcome->is_refused && process > 0) {
        log_end(watch, frame, status);
        outcome->is_different = 1;
    }
    watch->different += outcome->is_different;
    return 0;
}

static void end_variation(int is_different)
{
    if (!variation.active)
        return;
    variation.outcome->is_compared = 1, variation.outcome->is_different = is_different;
    leave_variation();
}

static int has_varied_enough(const struct watch *watch)
{
    return !variation.most || watch->different >= MOST_DIFFERENT_VARIED || watch->endless >= MOST_ENDLESS;
}

/* Repeats a call with variations. Returns in the program, and in each process with a varied call. */
static void vary_call(struct watch *watch, struct frame *frame, int is_new)
{
    read_offsets(&shadow->offsets);
    int is_first = !watch->varied && !watch->failed;
    int left = is_first ? VARIED_AT_FIRST : is_new ? VARIED_LATER : VARIED_OF_A_KIND;
    for (int failure = 1; failure <= MOST_FAILURES && (is_first || watch->allocates); failure++) {
        if (has_varied_enough(watch) || watch->failed == MOST_FAILING)
            break;
        if (start_variation(watch, frame, failure))
            return;
        if (!variation.outcome->has_failed)
            break;
        watch->allocates = 1;
    }
    while (!variation.only_failures && left-- && watch->varied < variation.most && !has_varied_enough(watch))
        if (start_variation(watch, frame, 0))
            return;
}
