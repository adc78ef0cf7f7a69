/* The arguments with which a doubled call calls other functions, in C and in Rust.
 *
 * While an outermost call is doubled, all slots come through jv_dispatch, which notes the general registers of each call
 * whose callee has a shape.  Compared are sets for each callee that both call: how often and in which order C calls is
 * up to the compiler, and whether it calls at all, where functions are inlined.  A static function of a header has a
 * slot in each unit, of which Rust calls the first: these are one callee.  Addresses that Rust may choose are alike:
 * unused stack, new blocks, constants and static locals.  Included by shadow.c.
 */
#define MOST_TRACED 512
#define MOST_A_CALLEE 32
#define MOST_TRACED_MODULES 16
#define REGISTERS_TRACED 6

enum { ON_STACK = 1, IN_NEW_BLOCK, IN_MODULE };

struct traced_call {
    const struct slot *slot;
    uint64_t argument[REGISTERS_TRACED];
};

struct trace {
    uint32_t count, overflow;
    struct traced_call call[MOST_TRACED];
    uint16_t table[2 * MOST_TRACED];
};

/* The slots of a module: masks of the bytes that count in each register, calls noted, and cells outside of a trace;
 * `first` is the first slot with the name of one that was called. */
static struct traced_module {
    struct slot *slots;
    size_t count;
    unsigned char (*masks)[REGISTERS_TRACED];
    uint16_t *noted;
    void **cells;
    struct slot **first;
} traced_modules[MOST_TRACED_MODULES];
static size_t traced_module_count;
static struct trace *trace;
static int is_tracing;
static uint64_t trace_serial;
static char *trace_stack;

static struct traced_module *module_of(const struct slot *slot)
{
    for (size_t at = 0; at < traced_module_count; at++)
        if (slot >= traced_modules[at].slots && slot < traced_modules[at].slots + traced_modules[at].count)
            return traced_modules + at;
    return 0;
}

static void add_traced_module(struct slot *slots, size_t count)
{
    if (traced_module_count == MOST_TRACED_MODULES)
        return;
    if (!trace)
        trace = pages(sizeof *trace);
    struct traced_module *module = traced_modules + traced_module_count++;
    *module = (struct traced_module){slots, count, pages(count * sizeof *module->masks), 0, 0, 0};
    module->noted = pages(count * sizeof *module->noted);
    module->cells = pages(count * sizeof *module->cells);
    module->first = pages(count * sizeof *module->first);
}

static const struct slot *first_of_name(const struct traced_module *module, const struct slot *slot)
{
    struct slot **first = module->first + (slot - module->slots);
    if (!*first)
        for (*first = module->slots; strcmp((*first)->name, slot->name);)
            ++*first;
    return *first;
}

static void start_trace(uint64_t serial, char *stack)
{
    memset(trace, 0, sizeof *trace);
    for (size_t at = 0; at < traced_module_count; at++) {
        struct traced_module *module = traced_modules + at;
        memset(module->noted, 0, module->count * sizeof *module->noted);
        for (size_t number = 0; number < module->count; number++) {
            struct slot *slot = module->slots + number;
            module->cells[number] = *slot->cell;
            if (slot->target)
                *slot->cell = slot->monitored;
        }
    }
    trace_serial = serial, trace_stack = stack, is_tracing = 1;
}

/* Cells belong to the data that is compared. */
static void end_trace(void)
{
    for (size_t at = 0; at < traced_module_count && is_tracing; at++)
        for (size_t number = 0; number < traced_modules[at].count; number++)
            *traced_modules[at].slots[number].cell = traced_modules[at].cells[number];
    is_tracing = 0;
}

static uint64_t plain_argument(uint64_t word, const char *stack)
{
    if (word > (uintptr_t)stack - ((uint64_t)1 << 23) && word < (uintptr_t)trace_stack)
        return ON_STACK;
    if (in_reserve(word)) {
        struct block *block = find_block(heap->table, heap->chunks, word);
        return !block || !block->serial || block->serial > trace_serial ? IN_NEW_BLOCK : word;
    }
    return in_ranges(&rust, word) || in_ranges(&modules, word) ? IN_MODULE : word;
}

static void note_call(const struct traced_call *call, uint16_t *noted)
{
    uint64_t hash = (uintptr_t)call->slot;
    for (int at = 0; at < REGISTERS_TRACED; at++)
        hash = (hash ^ call->argument[at]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    for (size_t at = hash % (2 * MOST_TRACED);; at = (at + 1) % (2 * MOST_TRACED)) {
        if (trace->table[at] && memcmp(trace->call + trace->table[at] - 1, call, sizeof *call))
            continue;
        if (trace->table[at])
            return;
        trace->overflow |= trace->count == MOST_TRACED - 1;
        if (trace->overflow || *noted > MOST_A_CALLEE)
            return;
        ++*noted;
        trace->call[trace->count++] = *call;
        trace->table[at] = (uint16_t)trace->count;
        return;
    }
}

static void trace_call(const struct slot *slot, const uint64_t *arguments, const char *stack)
{
    struct traced_module *module = module_of(slot);
    unsigned known = 0;
    if (!module)
        return;
    struct traced_call call = {.slot = first_of_name(module, slot)};
    const unsigned char *masks = module->masks[slot - module->slots];
    for (int at = 0; at < REGISTERS_TRACED; at++) {
        uint64_t mask = 0;
        for (int byte = 0; byte < 8; byte++)
            mask |= (uint64_t)(masks[at] >> byte & 1 ? 0xff : 0) << 8 * byte;
        call.argument[at] = masks[at] == 0xff ? plain_argument(arguments[at], stack) : arguments[at] & mask;
        known |= masks[at];
    }
    if (known)
        note_call(&call, module->noted + (call.slot - module->slots));
}

static int has_call(const struct trace *all, const struct traced_call *call)
{
    for (uint32_t at = 0; at < all->count; at++)
        if (!memcmp(all->call + at, call, sizeof *call))
            return 1;
    return 0;
}

static uint32_t calls_of(const struct trace *all, const struct slot *slot)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < all->count; at++)
        count += all->call[at].slot == slot;
    return count;
}

/* Returns a call of one trace that the other lacks though it calls the same function, or null. */
static const struct traced_call *extra_call(const struct trace *one, const struct trace *other,
                                            const struct slot *slot)
{
    for (uint32_t at = 0; at < one->count && !one->overflow && !other->overflow; at++) {
        const struct traced_call *call = one->call + at;
        if ((slot && call->slot != slot) || has_call(other, call))
            continue;
        uint32_t calls = calls_of(one, call->slot), others = calls_of(other, call->slot);
        if (others && others <= MOST_A_CALLEE && calls <= MOST_A_CALLEE)
            return call;
    }
    return 0;
}

/* Any call of a function that only this trace has, else its first. */
static const struct traced_call *counterpart(const struct trace *own, const struct trace *other, const struct slot *slot)
{
    const struct traced_call *call = extra_call(own, other, slot);
    for (uint32_t at = 0; at < own->count && !call; at++)
        call = own->call[at].slot == slot ? own->call + at : 0;
    return call;
}
