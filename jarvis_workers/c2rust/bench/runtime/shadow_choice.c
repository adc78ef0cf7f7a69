/* Which calls are compared: those with arguments of another kind than all before, and some of the others.
 *
 * Features of a call are the magnitudes of its arguments and of the words that they point to, directly or through one
 * more pointer; addresses do not count.  The number of calls depends on these and on the memory to compare, not on time,
 * so that it is the same in each run.  Included by shadow.c.
 */
#define CALLS_AT_FIRST 32
#define CALLS_BETWEEN 997
#define CALLS_OBSERVED 4096
#define MOST_COMPARED 160
#define MOST_NEW_KINDS 96
#define MOST_DIFFERENT 16
#define MOST_WORK 65536 /* pages */
#define WORK_A_CALL 64
#define ALWAYS_COMPARED 8
#define FEATURE_BYTES 4096
#define OBSERVED_BYTES 256
#define VECTORS_OBSERVED 4
#define ADDRESS_BITS 47
#define LOWEST_ADDRESS ((uint64_t)1 << 32) /* of programs that are independent of their position */
#define HIGHEST_ADDRESS ((uint64_t)1 << 48)

static int add_feature(struct watch *watch, uint64_t place, uint64_t magnitude)
{
    uint64_t hash = (place << 12 | magnitude) * 0x9E3779B97F4A7C15u >> 49;
    unsigned char *byte = watch->features + hash / 8, bit = (unsigned char)(1 << hash % 8);
    int is_new = !(*byte & bit);
    *byte |= bit;
    return is_new;
}

/* The highest bits of a number, and how many follow. */
static uint64_t magnitude(uint64_t value, int bits)
{
    int length = value ? 64 - __builtin_clzll(value) : 0, rest = length > bits ? length - bits : 0;
    return (uint64_t)rest << bits | value >> rest;
}

static int is_on_stack(uint64_t address, const char *stack)
{
    return address >= (uintptr_t)stack && address < (uintptr_t)__libc_stack_end;
}

/* Where the object or range of memory that has an address ends; 0 for an address that may not be readable. */
static uint64_t end_of(uint64_t address, const char *stack)
{
    if (in_reserve(address)) {
        struct block *block = find_block(heap->table, heap->chunks, address);
        uint64_t start = (uintptr_t)(block + 1);
        return block && block->serial && address >= start && address < start + block->size ? start + block->size : 0;
    }
    if (is_on_stack(address, stack))
        return (uintptr_t)__libc_stack_end;
    for (size_t at = 0; at < modules.count; at++)
        if (address >= (uintptr_t)modules.range[at].from && address < (uintptr_t)modules.range[at].to)
            return (uintptr_t)modules.range[at].to;
    return 0;
}

static int may_be_address(uint64_t word)
{
    return word >= LOWEST_ADDRESS && word < HIGHEST_ADDRESS;
}

static int is_mapped(uint64_t address)
{
    int saved = errno;
    unsigned char resident;
    int mapped = !mincore((void *)(address & ~(uint64_t)(PAGE - 1)), 1, &resident) || errno != ENOMEM;
    errno = saved;
    return mapped;
}

/* Two integers may look like an address, as may a short text, or an integer beside what is left of an old address. */
static int is_pointer(uint64_t word, const char *stack)
{
    if (!may_be_address(word))
        return 0;
    return in_reserve(word) ? in_heap((const void *)word) : end_of(word, stack) || is_mapped(word);
}

static int add_memory(struct watch *watch, uint64_t place, uint64_t address, const char *stack, int depth)
{
    uint64_t end = end_of(address, stack), word, bytes = end > address ? end - address : 0;
    int is_new = 0;
    for (uint64_t at = 0; at < 2 && at < bytes; at++) /* of a text */
        is_new |= add_feature(watch, place + at, *(unsigned char *)(address + at));
    for (uint64_t at = 0; at + 8 <= bytes && at < OBSERVED_BYTES; at += 8) {
        uint64_t inside = (place + at + 2) * 31;
        memcpy(&word, (void *)(address + at), sizeof word);
        if (is_pointer(word, stack)) {
            is_new |= add_feature(watch, inside, ADDRESS_BITS);
            is_new |= depth && add_memory(watch, inside * 31, word, stack, depth - 1);
        } else if (!(word >> ADDRESS_BITS) || !is_on_stack(address, stack)) { /* a canary is random */
            is_new |= add_feature(watch, inside, magnitude((uint32_t)word, 1));
            is_new |= add_feature(watch, inside + 4, magnitude(word >> 32, 1));
        }
    }
    return is_new;
}

/* Whether the arguments have a feature that those of no earlier call had. */
static int is_new_kind(struct watch *watch, const struct frame *frame, const char *stack)
{
    int is_new = 0;
    if (watch->calls > CALLS_OBSERVED || watch->new_kinds >= MOST_NEW_KINDS)
        return 0;
    if (!watch->features)
        watch->features = pages(FEATURE_BYTES);
    for (int at = 0; at < watch->registers; at++) {
        uint64_t word = argument_of(frame, at), place = ((uint64_t)at + 1) << 32;
        int leads_on = is_pointer(word, stack);
        is_new |= add_feature(watch, place, leads_on ? ADDRESS_BITS : magnitude(word, 3));
        is_new |= leads_on && add_memory(watch, place + 1, word, stack, 1);
    }
    for (uint64_t at = 0; at < VECTORS_OBSERVED; at++)
        is_new |= add_feature(watch, at, frame->vector[at][0] >> 52);
    watch->new_kinds += is_new;
    return is_new;
}

static int is_done(const struct watch *watch)
{
    return !watch->on || watch->compared >= MOST_COMPARED || watch->differences >= MOST_DIFFERENT ||
           (watch->work > MOST_WORK && watch->compared >= ALWAYS_COMPARED);
}

static int is_sampled(struct watch *watch, const struct frame *frame, const char *stack)
{
    long number = watch->calls;
    return is_new_kind(watch, frame, stack) || number <= CALLS_AT_FIRST || !(number & (number - 1)) ||
           number % CALLS_BETWEEN == 0;
}

/* What a comparison costs, as the pages to fork and to compare: those of the stack may vary from run to run. */
static long work_of(const struct memory *memory, const char *stack)
{
    long work = WORK_A_CALL + (long)heap->chunks;
    for (size_t at = 0; at < memory->count; at++)
        work += !is_on_stack((uintptr_t)memory->page[at], stack);
    return work;
}
