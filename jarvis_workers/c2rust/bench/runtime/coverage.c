/* What calls with generated arguments reach in C, in programs compiled with -fsanitize-coverage=trace-pc,trace-cmp.
 *
 * A feature is a basic block with the magnitude of the number of times that it runs, or a comparison with its outcome:
 * equal, one less, one more, less, more.  Those of the function count apart from those of the functions that it calls.
 * Operands of comparisons are recorded, since an input that has one of them may be changed to have the other.  Only
 * calls in C are observed, one at a time, and in the module of the function.  Included by runtime.c.
 */
#define PLACE_BITS 16
#define PLACES ((size_t)1 << PLACE_BITS)
#define MOST_OPERANDS 48
#define MOST_CASES 16

struct operands {
    uint64_t one, other;
    int bytes;
};

/* Counts by place, of the function and of those that it calls; `known` has the features of earlier calls, a bit each. */
struct observation {
    unsigned char counts[2][PLACES];
    struct operands operands[MOST_OPERANDS];
    int operand_count;
};

static struct {
    int on;
    uintptr_t from, to;
    struct observation *now;
    unsigned char (*known)[PLACES];
} coverage;

/* Called for each function whose inputs are run in C. */
static void begin_coverage(const struct slot *slot)
{
    size_t bytes = 2 * PLACES;
    if (!coverage.now) {
        coverage.now = pages(sizeof *coverage.now);
        coverage.known = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (coverage.known == MAP_FAILED)
            fail("coverage", "no shared memory");
    }
    memset(coverage.known, 0, bytes);
    coverage.from = (uintptr_t)slot->original, coverage.to = UINTPTR_MAX;
    for (const struct slot *one = __start_jv_slots; one < __stop_jv_slots; one++)
        if ((uintptr_t)one->original > coverage.from && (uintptr_t)one->original < coverage.to)
            coverage.to = (uintptr_t)one->original;
}

static void count_place(uintptr_t pc, uint64_t kind)
{
    int is_callee = pc < coverage.from || pc >= coverage.to;
    uint64_t place = (uint64_t)(pc - (uintptr_t)&coverage) << 3 | kind; /* the same wherever the module is loaded */
    unsigned char *count = coverage.now->counts[is_callee] + (place * 0x9E3779B97F4A7C15u >> (64 - PLACE_BITS));
    *count += *count < 255;
}

static void note_operands(uint64_t one, uint64_t other, int bytes)
{
    struct observation *now = coverage.now;
    if (one == other || now->operand_count == MOST_OPERANDS)
        return;
    for (int at = 0; at < now->operand_count; at++)
        if (now->operands[at].one == one && now->operands[at].other == other && now->operands[at].bytes == bytes)
            return;
    now->operands[now->operand_count++] = (struct operands){one, other, bytes};
}

static void count_comparison(uintptr_t pc, uint64_t one, uint64_t other, int bytes)
{
    int unused = 64 - 8 * bytes;
    int64_t more = (int64_t)((one - other) << unused) >> unused;
    count_place(pc, more == 0 ? 1 : more == 1 ? 2 : more == -1 ? 3 : more > 0 ? 4 : 5);
    note_operands(one, other, bytes);
}

/* Adds the features of a call to those known; returns how many are new. */
static int new_features(int is_callee)
{
    int found = 0;
    for (size_t place = 0; place < PLACES; place++) {
        unsigned count = coverage.now->counts[is_callee][place];
        int magnitude = count < 4 ? (int)count - 1 : count < 8 ? 3 : count < 16 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7;
        if (!count || coverage.known[is_callee][place] >> magnitude & 1)
            continue;
        coverage.known[is_callee][place] |= (unsigned char)(1 << magnitude);
        found++;
    }
    return found;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))
#define OBSERVE_COMPARISON(name, type)                                                                                 \
    MODULE void __sanitizer_cov_trace_##name(type one, type other)                                                     \
    {                                                                                                                  \
        if (coverage.on)                                                                                               \
            count_comparison(CALLER, one, other, sizeof(type));                                                        \
    }
#define OBSERVE_FLOATING(name, type)                                                                                   \
    MODULE void __sanitizer_cov_trace_##name(type one, type other)                                                     \
    {                                                                                                                  \
        uint64_t bits[2] = {0, 0};                                                                                     \
        if (!coverage.on)                                                                                              \
            return;                                                                                                    \
        memcpy(bits, &one, sizeof one), memcpy(bits + 1, &other, sizeof other);                                        \
        count_place(CALLER, one == other ? 1 : one > other ? 4 : 5);                                                   \
        note_operands(bits[0], bits[1], sizeof(type));                                                                 \
    }

OBSERVE_COMPARISON(cmp1, uint8_t)
OBSERVE_COMPARISON(cmp2, uint16_t)
OBSERVE_COMPARISON(cmp4, uint32_t)
OBSERVE_COMPARISON(cmp8, uint64_t)
OBSERVE_COMPARISON(const_cmp1, uint8_t)
OBSERVE_COMPARISON(const_cmp2, uint16_t)
OBSERVE_COMPARISON(const_cmp4, uint32_t)
OBSERVE_COMPARISON(const_cmp8, uint64_t)
OBSERVE_FLOATING(cmpf, float)
OBSERVE_FLOATING(cmpd, double)

MODULE void __sanitizer_cov_trace_pc(void)
{
    if (coverage.on)
        count_place(CALLER, 0);
}

/* `cases` are their number, the bits of the value, and the values. */
MODULE void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
    for (uint64_t at = 0; coverage.on && at < cases[0] && at < MOST_CASES; at++)
        count_comparison(CALLER + at, value, cases[2 + at], (int)(cases[1] + 7) / 8);
}
