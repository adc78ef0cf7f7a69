/* The memory that a call may change: which pages changed, and the pages of another process.
 *
 * Compared are writable data of all modules with slots, the arena, and the stack above the call.  /proc/self/pagemap
 * tells which pages are mapped by this process alone, that is, written since the fork; where it cannot be read, pages
 * are hashed before and after the call.  Included by shadow.c.
 */
#define MOST_RANGES 64
#define MOST_PAGES 32768
#define EXCLUSIVE ((uint64_t)1 << 56)
#define SWAPPED ((uint64_t)1 << 62)
#define PRESENT ((uint64_t)1 << 63)
#define PAGEMAP_ROWS 1024

struct range {
    char *from, *to;
};

struct ranges {
    size_t count;
    struct range range[MOST_RANGES];
};

/* Writable data to compare; what of it not to; all of the modules with slots, and of the Rust library. */
static struct ranges data, excluded, modules, rust;
static int pagemap_works;

static void add_range(struct ranges *ranges, char *from, char *to)
{
    if (from < to && ranges->count < MOST_RANGES)
        ranges->range[ranges->count++] = (struct range){from, to};
}

/* Lazy binding writes the procedure linkage table: not the program's doing. */
static void exclude_bindings(const struct dl_phdr_info *module)
{
    struct dynamic dynamic = dynamic_of(module);
    char *from = 0, *to = 0;
    const ElfW(Rela) *row = dynamic.relocations[1], *end = row ? row + dynamic.sizes[1] / sizeof *row : 0;
    for (; row < end; row++) {
        char *cell = (char *)(module->dlpi_addr + row->r_offset);
        from = !from || cell < from ? cell : from;
        to = cell + sizeof(void *) > to ? cell + sizeof(void *) : to;
    }
    add_range(&excluded, from, to);
}

static int in_ranges(const struct ranges *ranges, uint64_t address)
{
    for (size_t at = 0; at < ranges->count; at++)
        if (address >= (uintptr_t)ranges->range[at].from && address < (uintptr_t)ranges->range[at].to)
            return 1;
    return 0;
}

static void add_segments(const struct dl_phdr_info *module, struct ranges *ranges, ElfW(Word) flag)
{
    for (int at = 0; at < module->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = module->dlpi_phdr + at;
        char *from = (char *)(module->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && segment->p_flags & flag)
            add_range(ranges, from, from + segment->p_memsz);
    }
}

static int has_address(const struct dl_phdr_info *module, const void *address)
{
    struct ranges all = {0};
    add_segments(module, &all, PF_R);
    return in_ranges(&all, (uintptr_t)address);
}

/* `places` are an address in a module with slots, and one in the Rust library. */
static int add_module(struct dl_phdr_info *module, size_t size, void *places)
{
    void **place = places;
    (void)size;
    if (has_address(module, place[0]) && !in_ranges(&modules, (uintptr_t)place[0])) {
        add_segments(module, &data, PF_W);
        add_segments(module, &modules, PF_R);
        exclude_bindings(module);
    }
    if (has_address(module, place[1]) && !in_ranges(&rust, (uintptr_t)place[1]))
        add_segments(module, &rust, PF_R);
    return 0;
}

static uint64_t pagemap_of(int file, const char *page)
{
    uint64_t row = 0;
    return pread(file, &row, sizeof row, (off_t)((uintptr_t)page / PAGE * sizeof row)) == sizeof row ? row : 0;
}

/* Emulators and confinement may hide the file or show another process's: see whether it knows a written page. */
static void try_pagemap(void)
{
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    char *probe = pages(2 * PAGE);
    *probe = 1;
    uint64_t written = file < 0 ? 0 : pagemap_of(file, probe), untouched = file < 0 ? 0 : pagemap_of(file, probe + PAGE);
    pagemap_works = sysconf(_SC_PAGESIZE) == PAGE && written & PRESENT && written & EXCLUSIVE && !(untouched & PRESENT);
    munmap(probe, 2 * PAGE);
    if (file >= 0)
        close(file);
}

/* What is compared, and what changed of it. */
struct memory {
    struct range range[MOST_RANGES + 2];
    size_t ranges, count, hashes;
    int overflow;
    uint64_t *hash; /* without pagemap: of each page of each range before the call */
    char *page[MOST_PAGES];
};

static void choose_ranges(struct memory *memory, char *frame)
{
    memory->ranges = data.count;
    memcpy(memory->range, data.range, data.count * sizeof *data.range);
    memory->range[memory->ranges++] = (struct range){frame, (char *)__libc_stack_end};
    memory->range[memory->ranges++] = (struct range){heap->base, heap->base + heap->chunks * CHUNK};
}

static uint64_t hash_page(const char *page)
{
    const uint64_t *word = (const uint64_t *)page;
    uint64_t hash[4] = {1, 2, 3, 4};
    for (size_t at = 0; at < PAGE / 8; at += 4)
        for (size_t lane = 0; lane < 4; lane++)
            hash[lane] = (hash[lane] ^ word[at + lane]) * 0x9E3779B97F4A7C15u + (hash[lane] >> 29);
    return hash[0] ^ hash[1] * 3 ^ hash[2] * 5 ^ hash[3] * 7;
}

static char *first_page(const struct range *range)
{
    return (char *)((uintptr_t)range->from & ~(PAGE - 1));
}

static void hash_memory(struct memory *memory)
{
    if (pagemap_works)
        return;
    for (size_t at = 0; at < memory->ranges; at++)
        memory->hashes += (size_t)(memory->range[at].to - first_page(memory->range + at)) / PAGE + 1;
    memory->hash = pages(memory->hashes * sizeof *memory->hash);
    size_t number = 0;
    for (size_t at = 0; at < memory->ranges; at++)
        for (char *page = first_page(memory->range + at); page < memory->range[at].to; page += PAGE)
            memory->hash[number++] = hash_page(page);
}

static void add_page(struct memory *memory, char *page)
{
    if (memory->count == MOST_PAGES)
        memory->overflow = 1;
    else if (!memory->count || memory->page[memory->count - 1] != page)
        memory->page[memory->count++] = page;
}

static void read_pagemap(struct memory *memory, const struct range *range, int file)
{
    uint64_t row[PAGEMAP_ROWS];
    for (char *page = first_page(range); page < range->to;) {
        size_t left = (size_t)(range->to - page + (ptrdiff_t)PAGE - 1) / PAGE;
        left = left < PAGEMAP_ROWS ? left : PAGEMAP_ROWS;
        ssize_t got = pread(file, row, left * sizeof *row, (off_t)((uintptr_t)page / PAGE * sizeof *row));
        for (size_t at = 0; at < left; at++, page += PAGE)
            if (got < (ssize_t)(left * sizeof *row) || row[at] & SWAPPED || (row[at] & PRESENT && row[at] & EXCLUSIVE))
                add_page(memory, page);
    }
}

/* Lists the changed pages; those that are new in the arena are among them. */
static void list_changes(struct memory *memory)
{
    int file = pagemap_works ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
    struct range *arena = memory->range + memory->ranges - 1;
    char *old_end = arena->to;
    size_t number = 0;
    for (size_t at = 0; at < memory->ranges; at++) {
        if (memory->range + at == arena)
            arena->to = heap->base + heap->chunks * CHUNK;
        if (file >= 0) {
            read_pagemap(memory, memory->range + at, file);
            continue;
        }
        for (char *page = first_page(memory->range + at); page < memory->range[at].to; page += PAGE)
            if (!memory->hash || (page >= old_end && memory->range + at == arena) ||
                memory->hash[number++] != hash_page(page))
                add_page(memory, page);
    }
    if (file >= 0)
        close(file);
}

static void sort_pages(char **page, size_t count)
{
    for (size_t root = count / 2; count > 1;) { /* heap sort: no memory, no callbacks */
        char *value;
        if (root) {
            value = page[--root];
        } else {
            value = page[--count];
            page[count] = page[0];
        }
        size_t at = root, child;
        while ((child = 2 * at + 1) < count) {
            child += child + 1 < count && page[child] < page[child + 1];
            if (page[child] <= value)
                break;
            page[at] = page[child];
            at = child;
        }
        page[at] = value;
    }
}
