/* After the Rust function has returned: compare, ask C again where they differ, and log.  Included by shadow.c. */
#define MOST_FRAME 4096
#define MOST_PATH 8

static int fetch_pages(int socket, char **page, size_t count, char *copies)
{
    for (size_t at = 0; at < count; at += BATCH) {
        uint32_t part = (uint32_t)(count - at < BATCH ? count - at : BATCH);
        if (!send_all(socket, &part, sizeof part) || !send_all(socket, page + at, part * sizeof *page) ||
            !receive_all(socket, copies + at * PAGE, part * PAGE, CHILD_SECONDS))
            return 0;
    }
    return 1;
}

/* Adds the pages that changed here to those that C changed. */
static void unite(struct memory *memory)
{
    list_changes(memory);
    sort_pages(memory->page, memory->count);
    size_t count = 0;
    for (size_t at = 0; at < memory->count; at++)
        if (!count || memory->page[count - 1] != memory->page[at])
            memory->page[count++] = memory->page[at];
    memory->count = count;
}

static int is_nan(const unsigned char *bytes, unsigned mask)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return mask == 0xff ? (word & ~(1ull << 63)) > 0x7ff0000000000000 : mask == 0x0f && (word & 0x7fffffff) > 0x7f800000;
}

static const unsigned char *piece_of(const struct result *result, const struct piece *piece)
{
    const uint64_t *word = piece->kind == 'v' ? result->vector[piece->number] : &result->integer[piece->number & 1];
    return (const unsigned char *)word;
}

/* Whether a piece is the same in two results; of pointers, in this process and C's. */
static int same_piece(struct comparison *c, const struct piece *piece, const struct result *theirs,
                      const struct result *ours)
{
    const unsigned char *old = piece_of(theirs, piece), *new = piece_of(ours, piece);
    if (piece->kind == 'v' && is_nan(old, piece->mask) && is_nan(new, piece->mask))
        return 1;
    if (c && piece->mask == 0xff && piece->kind != 'v') {
        uint64_t one = theirs->integer[piece->number & 1], other = ours->integer[piece->number & 1];
        return same_word(c, one, other, 0);
    }
    for (int at = 0; at < 8; at++)
        if (piece->mask >> at & 1 && old[at] != new[at])
            return 0;
    return 1;
}

static void write_hex(char *text, const unsigned char *bytes, int count)
{
    for (int at = 0; at < count; at++)
        sprintf(text + 2 * at, "%02x", bytes[at]);
}

/* Where an address lies, seen from the arguments: `argument 0+16`, or `argument 0+16>8` through a pointer at +16. */
static int name_by_argument(const struct call *call, uint64_t from, uint64_t to, uint64_t address, char *text)
{
    for (int at = 0; at < call->watch->registers; at++)
        if (call->arguments[at] >= from && call->arguments[at] < to && call->arguments[at] <= address)
            return sprintf(text, "argument %d+%lu", at, (unsigned long)(address - call->arguments[at]));
    for (int at = 0; at < call->watch->registers; at++) {
        struct found block = in_reserve(call->arguments[at]) ? find_ours(call->arguments[at]) : (struct found){0};
        uint64_t end = block.address + sizeof(struct block) + block.header.size;
        if (!block.address || !block.header.serial)
            continue;
        for (uint64_t word = call->arguments[at]; word + 8 <= end && word < call->arguments[at] + MOST_FRAME; word += 8) {
            uint64_t pointer;
            memcpy(&pointer, (void *)word, sizeof pointer);
            if (pointer >= from && pointer < to && pointer <= address)
                return sprintf(text, "argument %d+%lu>%lu", at, (unsigned long)(word - call->arguments[at]),
                               (unsigned long)(address - pointer));
        }
    }
    return 0;
}

static int is_static_local(uint64_t address)
{
    Dl_info facts;
    return in_ranges(&data, address) && (!dladdr((void *)address, &facts) || !facts.dli_sname);
}

/* Returns how much of the text was written. */
static int name_stack(const struct call *call, uint64_t address, char *text)
{
    uint64_t stack = (uintptr_t)call->stack, from = address < stack + MOST_FRAME ? stack : address - MOST_FRAME;
    int length = name_by_argument(call, from, address + 1, address, text);
    return length ? length : sprintf(text, "frame+%lu", (unsigned long)(address - stack));
}

static int name_address(const struct comparison *c, const struct call *call, uint64_t address, char *text, int depth);

/* New blocks are named by the pointer that led to them. */
static int name_block(const struct comparison *c, const struct call *call, uint64_t address, char *text, int depth)
{
    struct found block = find_ours(address);
    uint64_t from = block.address + sizeof(struct block), end = from + block.header.size + 1;
    uint64_t inside = address < from ? from : address;
    uint32_t pair = block.header.serial > c->serial ? *cell_of(c, c->by_ours, block.address) : 0;
    int length = pair ? 0 : name_by_argument(call, from, end, inside, text);
    if (pair && depth < MOST_PATH) {
        uint64_t pointer = c->pairs[pair - 1].from;
        length = pointer ? name_address(c, call, pointer, text, depth + 1) : sprintf(text, "result+0");
        pointer = pointer ? inside - *(uint64_t *)pointer : inside - from;
        return length + sprintf(text + length, ">%lu", (unsigned long)pointer);
    }
    if (length)
        return length;
    return sprintf(text, "block %lu+%lu", (unsigned long)block.header.size, (unsigned long)(inside - from));
}

static int name_address(const struct comparison *c, const struct call *call, uint64_t address, char *text, int depth)
{
    Dl_info facts;
    if (in_reserve(address))
        return name_block(c, call, address, text, depth);
    if (address >= (uintptr_t)call->stack && address < (uintptr_t)__libc_stack_end)
        return name_stack(call, address, text);
    if (dladdr((void *)address, &facts) && facts.dli_sname)
        return sprintf(text, "%.200s+%lu", facts.dli_sname, (unsigned long)(address - (uintptr_t)facts.dli_saddr));
    return sprintf(text, "?+0");
}

static void name_region(const struct comparison *c, const struct call *call, const struct mismatch *one, char *text)
{
    static const char *const heap_places[] = {[WORD] = "heap", [FREED] = "freed", [SIZE] = "size"};
    if (one->place == BLOCKS) {
        strcpy(text, "blocks");
        return;
    }
    int on_stack = one->ours >= (uintptr_t)call->stack && one->ours < (uintptr_t)__libc_stack_end;
    const char *kind = in_reserve(one->ours) ? heap_places[one->place] : on_stack ? "stack" : "global";
    name_address(c, call, one->ours, text + sprintf(text, "%s ", kind), 0);
}

/* Drops the bytes before the first that differs, if these belong to another variable. */
static void cut_to_variable(const struct call *call, struct mismatch *one)
{
    Dl_info facts;
    int first = 0;
    while (first < one->bytes - 1 && one->old[first] == one->new[first])
        first++;
    if (one->place != WORD || in_reserve(one->ours))
        return;
    uint64_t start = dladdr((void *)(one->ours + first), &facts) && facts.dli_sname ? (uintptr_t)facts.dli_saddr : 0;
    for (int at = 0; at < call->watch->registers; at++)
        if (call->arguments[at] > start && call->arguments[at] <= one->ours + first)
            start = call->arguments[at];
    if (start <= one->ours)
        return;
    uint64_t other = start - one->ours;
    one->bytes -= (int)other, one->ours += other, one->theirs += other;
    memmove(one->old, one->old + other, (size_t)one->bytes);
    memmove(one->new, one->new + other, (size_t)one->bytes);
}

static void log_difference(const struct call *call, const char *region, const unsigned char *old,
                           const unsigned char *new, int bytes)
{
    char facts[2048], *end = facts;
    end += sprintf(end, "%ld\t%s\t", call->number, region);
    write_hex(end, old, bytes);
    end += 2 * bytes;
    *end++ = '\t';
    write_hex(end, new, bytes);
    end += 2 * bytes;
    end += sprintf(end, call->watch->registers ? "" : "\t-");
    for (int at = 0; at < call->watch->registers; at++)
        end += sprintf(end, "%c%lx", at ? ',' : '\t', (unsigned long)call->arguments[at]);
    if (variation.active)
        snprintf(end, VARIATION_BYTES + 1, "\t%s", variation.outcome->text);
    log_watch("difference", call->watch, facts);
}

/* Another run of C from the memory before the call. */
struct rerun {
    struct report report;
    char copies[MOST_MISMATCHES][8];
    struct trace trace;
    int complete;
};

static void run_again(struct call *call, const struct comparison *c, int fill, struct rerun *run)
{
    unsigned char byte = (unsigned char)fill;
    char *copy = pages(PAGE);
    run->complete = send_all(call->holder_socket, &byte, 1) &&
                    receive_all(call->holder_socket, &run->report, sizeof run->report, CHILD_SECONDS) &&
                    is_complete(&run->report);
    size_t lists = run->complete ? run->report.pages * sizeof(char *) + run->report.chunks * sizeof(struct chunk) : 1;
    char *skipped = pages(lists);
    run->complete = run->complete && receive_all(call->holder_socket, skipped, lists, CHILD_SECONDS) &&
                    receive_trace(call->holder_socket, &run->trace);
    for (size_t at = 0; at < c->count && run->complete; at++) {
        const struct mismatch *one = c->mismatch + at;
        char *page = (char *)(one->theirs & ~(uint64_t)(PAGE - 1));
        if (one->place != WORD)
            continue;
        run->complete = fetch_pages(call->holder_socket, &page, 1, copy);
        memcpy(run->copies[at], copy + one->theirs % PAGE, (size_t)one->bytes);
    }
    uint32_t stop = BATCH + 1;
    if (is_complete(&run->report))
        send_all(call->holder_socket, &stop, sizeof stop);
    munmap(copy, PAGE);
    munmap(skipped, lists);
}

/* Whether C's second run had what its first had at a mismatch, in each byte where Rust has something else. */
static int confirms(const struct rerun *run, const struct mismatch *one, size_t number)
{
    for (int at = 0; at < one->bytes && one->place == WORD; at++)
        if (one->old[at] != one->new[at] && (unsigned char)run->copies[number][at] == one->old[at])
            return 1;
    return one->place != WORD;
}

static int deviates(const struct rerun *run, const struct mismatch *one, size_t number)
{
    return one->place == WORD && memcmp(run->copies[number], one->old, (size_t)one->bytes);
}

/* The pieces of the result that differ, as bits. */
static unsigned different_pieces(struct comparison *c, const struct watch *watch, const struct result *theirs,
                                 const struct result *ours)
{
    unsigned different = 0;
    for (int at = 0; at < watch->pieces; at++)
        different |= (unsigned)!same_piece(c, watch->piece + at, theirs, ours) << at;
    return different;
}

static int depends_on_more(const struct rerun *run, const struct comparison *c, const struct call *call)
{
    int deviating = different_pieces(0, call->watch, &call->report.result, &run->report.result) != 0;
    deviating |= call->traced && (extra_call(call->trace, &run->trace, 0) || extra_call(&run->trace, call->trace, 0));
    for (size_t at = 0; at < c->count; at++)
        deviating |= deviates(run, c->mismatch + at, at);
    return deviating;
}

/* The first call with arguments that the other side never passes, and that C passes whatever unused memory holds. */
static const struct slot *different_call(const struct call *call, const struct rerun *run)
{
    if (!call->traced || (!extra_call(call->trace, trace, 0) && !extra_call(trace, call->trace, 0)))
        return 0;
    for (uint32_t at = 0; at < call->trace->count; at++) {
        const struct slot *slot = call->trace->call[at].slot;
        int differs = extra_call(call->trace, trace, slot) || extra_call(trace, call->trace, slot);
        if (differs && !(run && (extra_call(call->trace, &run->trace, slot) || extra_call(&run->trace, call->trace, slot))))
            return slot;
    }
    return 0;
}

static void log_call(const struct call *call, const struct slot *slot)
{
    const struct traced_call *theirs = counterpart(call->trace, trace, slot), *ours = counterpart(trace, call->trace, slot);
    char region[1024];
    int at = 0;
    while (at < REGISTERS_TRACED - 1 && theirs->argument[at] == ours->argument[at])
        at++;
    snprintf(region, sizeof region, "call %.256s %d", slot->name, at);
    log_difference(call, region, (const unsigned char *)(theirs->argument + at),
                   (const unsigned char *)(ours->argument + at), 8);
}

static void report_differences(struct call *call, struct comparison *c, unsigned pieces, const struct result *ours,
                               const struct rerun *run)
{
    int reported = 0;
    char region[1024];
    const struct slot *called = different_call(call, run);
    for (int at = 0; at < call->watch->pieces; at++)
        if (pieces >> at & 1 && reported++ < MOST_REPORTED) {
            const struct piece *piece = call->watch->piece + at;
            sprintf(region, "result %c%d", piece->kind, piece->number);
            int bytes = piece->mask > 0x0f ? 8 : piece->mask > 0x03 ? 4 : piece->mask > 1 ? 2 : 1;
            log_difference(call, region, piece_of(&call->report.result, piece), piece_of(ours, piece), bytes);
        }
    for (size_t at = 0; at < c->count; at++)
        if (confirms(run, c->mismatch + at, at) && !is_static_local(c->mismatch[at].ours) &&
            reported++ < MOST_REPORTED) {
            cut_to_variable(call, c->mismatch + at);
            name_region(c, call, c->mismatch + at, region);
            log_difference(call, region, c->mismatch[at].old, c->mismatch[at].new, c->mismatch[at].bytes);
        }
    if (called && !reported++)
        log_call(call, called);
    if (reported && !call->watch->differences++ && !variation.active)
        log_compared(call->watch);
    if (!reported)
        call->watch->indeterminate++;
}

/* C and Rust have static locals of their own: once they differ, C starts from old ones. */
static void judge_differences(struct call *call, struct comparison *c, unsigned pieces, const struct result *ours)
{
    struct watch *watch = call->watch;
    struct rerun *run = pages(2 * sizeof *run);
    int stale = watch->stale;
    for (size_t at = 0; at < c->count; at++)
        watch->stale |= c->mismatch[at].place == WORD && is_static_local(c->mismatch[at].ours);
    run_again(call, c, FILL, run);
    if (!run->complete || depends_on_more(run, c, call)) {
        unshadow(watch, "C differs from itself");
    } else {
        run_again(call, c, OTHER_FILL, run + 1);
        if (!run[1].complete)
            unshadow(watch, "C differs from itself");
        pieces &= ~different_pieces(0, watch, &call->report.result, &run[1].report.result);
        int counted = pieces || different_call(call, run + 1);
        for (size_t at = 0; at < c->count; at++)
            counted |= confirms(run + 1, c->mismatch + at, at) && !is_static_local(c->mismatch[at].ours);
        if (counted && stale)
            unshadow(watch, "has static locals");
        else if (watch->on)
            report_differences(call, c, pieces, ours, run + 1);
    }
    munmap(run, 2 * sizeof *run);
}

static void judge_call(struct call *call, const struct result *ours)
{
    struct comparison *c = &shadow->comparison;
    struct watch *watch = call->watch;
    size_t tables = 2 * 2 * MOST_PAIRS * sizeof(uint32_t) + MOST_PAIRS * sizeof(struct pair);
    unite(call->memory);
    size_t bytes = (call->memory->count + 1) * PAGE;
    char *copies = pages(bytes), *table = pages(tables);
    c->memory = call->memory, c->copies = copies, c->chunks = call->chunks, c->chunk_count = call->report.chunks;
    c->serial = call->serial, c->stack = (uintptr_t)call->stack;
    c->pairs = (struct pair *)table;
    c->by_theirs = (uint32_t *)(c->pairs + MOST_PAIRS), c->by_ours = c->by_theirs + 2 * MOST_PAIRS;
    c->pair_count = c->blocks_theirs = c->blocks_ours = c->count = 0;
    if (call->memory->overflow || !fetch_pages(call->socket, call->memory->page, call->memory->count, copies)) {
        unshadow(watch, "changes too much memory");
    } else {
        unsigned pieces = different_pieces(c, watch, &call->report.result, ours);
        compare_memory(c);
        watch->compared++;
        if (c->count || pieces || different_call(call, 0))
            judge_differences(call, c, pieces, ours);
        if (watch->on && !variation.active && !(watch->compared & (watch->compared - 1)))
            log_compared(watch);
    }
    munmap(copies, bytes);
    munmap(table, tables);
}

/* Called when a doubled call returns; returns its return address. */
SHARED void *jv_shadow_after(const struct result *result, char *stack)
{
    int saved = errno;
    if (child->running)
        serve_memory(result);
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    while (shadow->depth > 1 && shadow->call[shadow->depth - 1].stack != stack)
        end_call(shadow->call + --shadow->depth);
    struct call *call = shadow->call + --shadow->depth;
    void *back = call->back;
    if (call->traced)
        end_trace();
    if (call->process == getpid()) {
        long differences = call->watch->differences;
        if (variation.active && variation.outcome->has_failed && !heap->failures)
            refuse_variation(); /* only C allocates: compilers remove a block that is freed at once */
        judge_call(call, result);
        end_variation(call->watch->differences > differences);
        call->watch->work += work_of(call->memory, call->stack);
        end_call(call);
    }
    sigprocmask(SIG_SETMASK, &mask, 0);
    errno = saved;
    return back;
}
