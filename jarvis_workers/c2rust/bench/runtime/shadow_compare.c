/* Compare the memory of two processes after a call, up to a renaming of the blocks that it allocated.
 *
 * "Theirs" is the process that ran C, "ours" the one that ran Rust.  Bytes of data, stack and older blocks are compared
 * at their addresses.  Where both have pointers to the same place in new blocks, these are a pair: each block is in one
 * pair, and paired blocks are compared in the order of their discovery.  Pointers into the frames of the call dangle when
 * it has returned: they are equal.  Included by shadow.c.
 */
#define MOST_PAIRS ((size_t)1 << 16)
#define MOST_MISMATCHES 512
#define MOST_CONSTANT 64
#define DANGLING_BYTES ((uint64_t)8 << 20)

enum place { WORD, FREED, SIZE, BLOCKS };

struct mismatch {
    enum place place;
    uint64_t theirs, ours;             /* addresses */
    unsigned char old[8], new[8];      /* theirs, ours */
    int bytes;
};

/* `from` is where the first pointer to them was found, in our memory. */
struct pair {
    uint64_t theirs, ours, from;
};

struct comparison {
    struct memory *memory; /* the pages that differ from before in either process, sorted */
    char *copies;          /* their contents in the other process */
    struct chunk *chunks;  /* its rows of the arena */
    size_t chunk_count;
    uint64_t serial;       /* blocks with a greater one are new */
    uint64_t stack;        /* frames of the call are below */
    struct pair *pairs;
    uint32_t *by_theirs, *by_ours;
    size_t pair_count, blocks_theirs, blocks_ours, count;
    struct mismatch mismatch[MOST_MISMATCHES];
};

/* Of the arena, untouched in both. At most a page is read from it. */
static char zeros[2 * 4096];

/* Returns where the contents of an address of the other process are. */
static char *theirs_at(const struct comparison *c, uint64_t address)
{
    size_t low = 0, high = c->memory->count;
    char *page = (char *)(address & ~(uint64_t)(PAGE - 1));
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->memory->page[middle] < page)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->memory->count && c->memory->page[low] == page)
        return c->copies + low * PAGE + address % PAGE;
    return in_reserve(address) && (char *)address >= heap->base + heap->committed ? zeros : (char *)address;
}

static void note(struct comparison *c, enum place place, uint64_t theirs, uint64_t ours, const void *old,
                 const void *new, size_t bytes)
{
    if (c->count == MOST_MISMATCHES)
        return;
    struct mismatch *one = c->mismatch + c->count++;
    *one = (struct mismatch){place, theirs, ours, {0}, {0}, (int)bytes};
    memcpy(one->old, old, bytes);
    memcpy(one->new, new, bytes);
}

/* A block of either process: its address there, and a copy of its header; address 0 if there is none. */
struct found {
    uint64_t address;
    struct block header;
};

static struct found find_theirs(const struct comparison *c, uint64_t address)
{
    uint64_t block = (uintptr_t)find_block(c->chunks, c->chunk_count, address);
    return block ? (struct found){block, *(struct block *)theirs_at(c, block)} : (struct found){0, {0, 0}};
}

static struct found find_ours(uint64_t address)
{
    struct block *block = find_block(heap->table, heap->chunks, address);
    return block ? (struct found){(uintptr_t)block, *block} : (struct found){0, {0, 0}};
}

static uint32_t *cell_of(const struct comparison *c, uint32_t *table, uint64_t address)
{
    size_t at = (address >> 4) * 0x9E3779B97F4A7C15u >> 47;
    for (;; at = (at + 1) & (2 * MOST_PAIRS - 1)) {
        const struct pair *pair = c->pairs + table[at] - 1;
        if (!table[at] || (table == c->by_theirs ? pair->theirs : pair->ours) == address)
            return table + at;
    }
}

/* Returns whether these new blocks are, or become, a pair. */
static int pair_blocks(struct comparison *c, const struct found *theirs, const struct found *ours, uint64_t from)
{
    uint32_t *one = cell_of(c, c->by_theirs, theirs->address), *other = cell_of(c, c->by_ours, ours->address);
    if (*one || *other || c->pair_count == MOST_PAIRS)
        return *one == *other;
    if (ours->header.size != theirs->header.size)
        note(c, SIZE, theirs->address, ours->address, &theirs->header.size, &ours->header.size, 8);
    c->pairs[c->pair_count] = (struct pair){theirs->address, ours->address, from};
    *one = *other = (uint32_t)++c->pair_count;
    return 1;
}

/* Literals, constant tables and static locals are at other addresses in the Rust library: their size is not known. */
static int same_constant(const struct comparison *c, uint64_t theirs, uint64_t ours)
{
    for (int at = 0; at < MOST_CONSTANT; at++) {
        if (!in_ranges(&modules, theirs + at) || !in_ranges(&rust, ours + at))
            return at > 0;
        char byte = *theirs_at(c, theirs + at);
        if (byte != *(char *)(ours + at))
            return 0;
        if (!byte)
            break;
    }
    return 1;
}

static int is_dangling(const struct comparison *c, uint64_t address)
{
    return address < c->stack && c->stack - address <= DANGLING_BYTES;
}

static int same_word(struct comparison *c, uint64_t theirs, uint64_t ours, uint64_t from)
{
    struct found one = find_theirs(c, theirs), other = find_ours(ours);
    int new_theirs = one.header.serial > c->serial, new_ours = other.header.serial > c->serial;
    if (new_theirs && new_ours && theirs - one.address == ours - other.address && pair_blocks(c, &one, &other, from))
        return 1;
    if (in_ranges(&rust, ours) && in_ranges(&modules, theirs))
        return same_constant(c, theirs, ours);
    if (is_dangling(c, theirs) && is_dangling(c, ours))
        return 1;
    return theirs == ours || (one.address && other.address && !one.header.serial && !other.header.serial);
}

/* Compares bytes that do not cross a page of theirs. */
static void compare_part(struct comparison *c, uint64_t theirs, uint64_t ours, size_t bytes)
{
    const char *old = theirs_at(c, theirs), *new = (const char *)ours;
    for (size_t at = 0, step; at < bytes; at += step) {
        uint64_t a = 0, b = 0;
        step = bytes - at < 8 ? bytes - at : 8 - (theirs + at) % 8;
        step = step < bytes - at ? step : bytes - at;
        memcpy(&a, old + at, step);
        memcpy(&b, new + at, step);
        int pointer = step == 8 && (in_reserve(a) || in_reserve(b) || (a != b && (in_ranges(&rust, b) || is_dangling(c, b))));
        if ((a != b || pointer) && !(pointer && same_word(c, a, b, ours + at)) && a != b && !in_ranges(&excluded, theirs + at))
            note(c, WORD, theirs + at, ours + at, old + at, new + at, step);
    }
}

static void compare_bytes(struct comparison *c, uint64_t theirs, uint64_t ours, uint64_t bytes)
{
    while (bytes && c->count < MOST_MISMATCHES) {
        size_t part = PAGE - theirs % PAGE;
        part = part < bytes ? part : bytes;
        compare_part(c, theirs, ours, part);
        theirs += part, ours += part, bytes -= part;
    }
}

static void compare_overlap(struct comparison *c, const char *page, const char *from, const char *to)
{
    from = from > page ? from : page;
    to = to < page + PAGE ? to : page + PAGE;
    if (from < to)
        compare_bytes(c, (uintptr_t)from, (uintptr_t)from, (uint64_t)(to - from));
}

enum side { THEIRS = 1, OURS = 2 };

/* Compares what a page has of one slot of the arena, whose header counts for these sides if it lies in the page. */
static void compare_block(struct comparison *c, const char *page, uint64_t address, enum side sides)
{
    int header_here = address >= (uintptr_t)page && address < (uintptr_t)page + PAGE;
    struct found one = find_theirs(c, address), other = find_ours(address);
    struct block theirs = one.address == address ? one.header : (struct block){0, 0};
    struct block ours = other.address == address ? other.header : (struct block){0, 0};
    int old_theirs = theirs.serial && theirs.serial <= c->serial, old_ours = ours.serial && ours.serial <= c->serial;
    if (header_here) {
        c->blocks_theirs += sides & THEIRS && theirs.serial > c->serial;
        c->blocks_ours += sides & OURS && ours.serial > c->serial;
        if (old_theirs != old_ours)
            note(c, FREED, address, address, &(uint64_t){(uint64_t)!old_theirs}, &(uint64_t){(uint64_t)!old_ours}, 8);
        else if (old_theirs && ours.size != theirs.size)
            note(c, SIZE, address, address, &theirs.size, &ours.size, 8);
    }
    uint64_t size = theirs.size < ours.size ? theirs.size : ours.size, limit = heap->reserved;
    const char *from = (const char *)address + sizeof(struct block);
    if (old_theirs && old_ours)
        compare_overlap(c, page, from, from + (size < limit ? size : limit));
}

/* Visits the blocks of a page of the arena by the rows of one process. */
static void compare_slots(struct comparison *c, char *page, const struct chunk *table, size_t count, enum side sides)
{
    size_t chunk = (size_t)(page - heap->base) / CHUNK;
    if (chunk >= count || !table[chunk].slot)
        return;
    uint64_t last = 0;
    size_t step = table[chunk].slot == LARGE ? PAGE : table[chunk].slot;
    for (char *at = page; at < page + PAGE + step; at += step) {
        char *inside = at < page + PAGE ? at : page + PAGE - 1;
        uint64_t block = (uintptr_t)find_block(table, count, (uintptr_t)inside);
        if (block && block != last)
            compare_block(c, page, block, sides);
        last = block;
    }
}

static void compare_page(struct comparison *c, char *page)
{
    for (size_t at = 0; at + 1 < c->memory->ranges; at++)
        compare_overlap(c, page, c->memory->range[at].from, c->memory->range[at].to);
    if (!in_reserve((uintptr_t)page))
        return;
    size_t chunk = (size_t)(page - heap->base) / CHUNK;
    const struct chunk none = {0}, *ours = chunk < heap->chunks ? heap->table + chunk : &none;
    const struct chunk *theirs = chunk < c->chunk_count ? c->chunks + chunk : &none;
    int alike = ours->slot == theirs->slot && ours->first == theirs->first;
    compare_slots(c, page, heap->table, heap->chunks, alike ? THEIRS | OURS : OURS);
    if (!alike)
        compare_slots(c, page, c->chunks, c->chunk_count, THEIRS);
}

/* Compares all changed pages, then the pairs of new blocks that they lead to. */
static void compare_memory(struct comparison *c)
{
    for (size_t at = 0; at < c->memory->count && c->count < MOST_MISMATCHES; at++)
        compare_page(c, c->memory->page[at]);
    for (size_t at = 0; at < c->pair_count && c->count < MOST_MISMATCHES; at++) {
        struct found theirs = find_theirs(c, c->pairs[at].theirs), ours = find_ours(c->pairs[at].ours);
        uint64_t size = theirs.header.size < ours.header.size ? theirs.header.size : ours.header.size;
        if (theirs.address && ours.address && size <= heap->reserved)
            compare_bytes(c, theirs.address + sizeof(struct block), ours.address + sizeof(struct block), size);
    }
    if (c->blocks_theirs != c->blocks_ours)
        note(c, BLOCKS, 0, 0, &(uint64_t){c->blocks_theirs}, &(uint64_t){c->blocks_ours}, 8);
}
