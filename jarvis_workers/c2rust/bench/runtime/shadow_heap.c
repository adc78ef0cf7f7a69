/* The heap of shadowed programs: an arena whose blocks can be listed and found by any address inside them.
 *
 * One reserved range is divided into chunks of 64 KB.  A chunk has slots of one size, or belongs to a large block.  Each
 * block follows a header with the size that was asked for and a serial number that grows with time, 0 for a free
 * block.  What the arena did not allocate goes to the C library's own functions.  Included by shadow.c.
 */
#define CHUNK ((size_t)65536)
#define LARGE 1
#define FILL 0x5a
#define MOST_ARENA ((size_t)64 << 30)
#define PAGE ((size_t)4096)

struct block {
    uint64_t size, serial;
};

/* `slot` is the size of slots, LARGE, or 0; a large block begins at `offset` in the chunk `first`. */
struct chunk {
    uint32_t slot, first, offset, count;
};

/* At the start of its own mapping, followed by the table of chunks. */
struct heap {
    char *base;
    size_t reserved, committed, chunks, next_large;
    uint64_t serial;
    int lock, fill, failing, *has_failed; /* the number of the next allocation that fails, 0 for none */
    long failures;
    size_t most;
    struct block *free[32];
    char *cut[32], *end[32];
    struct chunk table[];
};

static const uint32_t slot_sizes[] = {32,   48,   64,   80,   96,   128,  160,  192,  256,  320,  384,   512,   640,
                                      768,  1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768};
#define CLASSES (sizeof slot_sizes / sizeof *slot_sizes)

static struct heap *heap;
static struct {
    void *(*malloc)(size_t), *(*calloc)(size_t, size_t), *(*realloc)(void *, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
} library;

static void open_heap(void)
{
    struct rlimit limit;
    size_t bytes = MOST_ARENA;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / 4 < bytes)
        bytes = limit.rlim_cur / 4;
    bytes &= ~(CHUNK - 1);
    char *base = MAP_FAILED;
    for (; bytes >= 64 * CHUNK && base == MAP_FAILED; bytes = base == MAP_FAILED ? bytes / 2 & ~(CHUNK - 1) : bytes)
        base = mmap(0, bytes + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        fail("shadow", "no address space for the heap");
    heap = pages(sizeof *heap + bytes / CHUNK * sizeof(struct chunk));
    heap->base = (char *)(((uintptr_t)base + CHUNK - 1) & ~(CHUNK - 1));
    heap->reserved = bytes;
    heap->most = bytes;
    heap->fill = FILL; /* what a function writes must not be there by chance */
}

static int in_heap(const void *address)
{
    return (size_t)((const char *)address - heap->base) < heap->chunks * CHUNK;
}

static int in_reserve(uint64_t address)
{
    return address - (uintptr_t)heap->base < heap->reserved;
}

static void lock_heap(void)
{
    while (__atomic_exchange_n(&heap->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_heap(void)
{
    __atomic_store_n(&heap->lock, 0, __ATOMIC_RELEASE);
}

/* Returns the first of `count` contiguous free chunks, or -1. */
static long take_chunks(size_t count, uint32_t slot)
{
    size_t at = heap->next_large, run = 0;
    for (; at < heap->chunks && run < count; at++)
        run = heap->table[at].slot ? 0 : run + 1;
    size_t first = at - run, end = first + count;
    if (count > heap->reserved / CHUNK || end > heap->reserved / CHUNK)
        return -1;
    if (end * CHUNK > heap->committed) {
        size_t wanted = (end * CHUNK + (1 << 20) - 1) & ~(((size_t)1 << 20) - 1);
        wanted = wanted < heap->reserved ? wanted : heap->reserved;
        if (mprotect(heap->base + heap->committed, wanted - heap->committed, PROT_READ | PROT_WRITE))
            return -1;
        heap->committed = wanted;
    }
    heap->chunks = end > heap->chunks ? end : heap->chunks;
    for (size_t chunk = first; chunk < end; chunk++)
        heap->table[chunk] = (struct chunk){slot, (uint32_t)first, 0, (uint32_t)count};
    if (first == heap->next_large)
        heap->next_large = end;
    return (long)first;
}

static struct block *take_slot(size_t bytes)
{
    size_t kind = 0;
    while (slot_sizes[kind] <= bytes + sizeof(struct block)) /* one byte more: a pointer past the end stays inside */
        kind++;
    struct block *block = heap->free[kind];
    if (block) {
        heap->free[kind] = *(struct block **)(block + 1);
    } else {
        if (heap->cut[kind] == heap->end[kind]) {
            long chunk = take_chunks(1, slot_sizes[kind]);
            if (chunk < 0)
                return 0;
            heap->cut[kind] = heap->base + (size_t)chunk * CHUNK;
            heap->end[kind] = heap->cut[kind] + CHUNK / slot_sizes[kind] * slot_sizes[kind];
        }
        block = (struct block *)heap->cut[kind];
        heap->cut[kind] += slot_sizes[kind];
    }
    memset(block + 1, heap->fill, bytes);
    return block;
}

static struct block *take_large(size_t bytes, size_t alignment)
{
    size_t offset = alignment > sizeof(struct block) ? alignment : sizeof(struct block);
    if (offset > CHUNK || bytes > heap->reserved)
        return 0;
    long first = take_chunks((offset + bytes) / CHUNK + 1, LARGE);
    if (first < 0)
        return 0;
    heap->table[first].offset = (uint32_t)(offset - sizeof(struct block));
    return (struct block *)(heap->base + (size_t)first * CHUNK + offset) - 1;
}

static void *allocate(size_t bytes, size_t alignment)
{
    lock_heap();
    int fails = (heap->failing && !--heap->failing) || bytes > heap->most;
    if (fails) {
        if (heap->has_failed)
            *heap->has_failed = 1;
        heap->failures++;
        unlock_heap();
        errno = ENOMEM;
        return 0;
    }
    int small = alignment <= sizeof(struct block) && bytes < slot_sizes[CLASSES - 1] - sizeof(struct block);
    struct block *block = small ? take_slot(bytes) : take_large(bytes, alignment);
    if (block)
        *block = (struct block){bytes, ++heap->serial};
    unlock_heap();
    if (!block)
        errno = ENOMEM;
    return block ? block + 1 : 0;
}

/* The rows of chunks may be a copy of another process's; returns the header's address in that process. */
static struct block *find_block(const struct chunk *table, size_t chunks, uint64_t address)
{
    size_t offset = address - (uintptr_t)heap->base, chunk = offset / CHUNK;
    if (chunk >= chunks || !table[chunk].slot)
        return 0;
    if (table[chunk].slot == LARGE) {
        size_t first = table[chunk].first;
        return (struct block *)(heap->base + first * CHUNK + table[first].offset);
    }
    size_t slot = table[chunk].slot, number = offset % CHUNK / slot;
    return number < CHUNK / slot ? (struct block *)(heap->base + chunk * CHUNK + number * slot) : 0;
}

static void release(struct block *block)
{
    size_t chunk = (size_t)((char *)block - heap->base) / CHUNK, kind = 0;
    lock_heap();
    block->serial = 0;
    if (heap->table[chunk].slot == LARGE) {
        size_t count = heap->table[chunk].count;
        madvise(heap->base + chunk * CHUNK, count * CHUNK, MADV_DONTNEED);
        for (size_t at = chunk; at < chunk + count; at++)
            heap->table[at].slot = 0;
        heap->next_large = chunk < heap->next_large ? chunk : heap->next_large;
    } else {
        while (slot_sizes[kind] != heap->table[chunk].slot)
            kind++;
        *(struct block **)(block + 1) = heap->free[kind];
        heap->free[kind] = block;
    }
    unlock_heap();
}

static void *jv_malloc(size_t bytes)
{
    return allocate(bytes, 0);
}

static void jv_free(void *memory)
{
    if (!memory || !in_heap(memory)) {
        library.free(memory);
        return;
    }
    int saved = errno;
    struct block *block = (struct block *)memory - 1;
    if (find_block(heap->table, heap->chunks, (uintptr_t)memory) != block || !block->serial) {
        fprintf(stderr, "free(): invalid pointer\n");
        abort();
    }
    release(block);
    errno = saved;
}

static void *jv_calloc(size_t count, size_t bytes)
{
    if (__builtin_mul_overflow(count, bytes, &bytes)) {
        errno = ENOMEM;
        return 0;
    }
    void *memory = allocate(bytes, 0);
    if (memory && bytes < slot_sizes[CLASSES - 1] - sizeof(struct block)) /* large blocks are fresh pages */
        memset(memory, 0, bytes);
    return memory;
}

static size_t room(const struct block *block)
{
    struct chunk *chunk = heap->table + (size_t)((char *)block - heap->base) / CHUNK;
    size_t whole = chunk->slot == LARGE ? chunk->count * CHUNK - chunk->offset : chunk->slot;
    return whole - sizeof *block - 1;
}

static void *jv_realloc(void *memory, size_t bytes)
{
    if (!memory)
        return allocate(bytes, 0);
    if (!in_heap(memory))
        return library.realloc(memory, bytes);
    struct block *block = (struct block *)memory - 1;
    if (!bytes) {
        jv_free(memory);
        return 0;
    }
    if (bytes <= room(block) && bytes >= room(block) / 4) {
        block->size = bytes;
        return memory;
    }
    void *moved = allocate(bytes, 0);
    if (moved) {
        memcpy(moved, memory, block->size < bytes ? block->size : bytes);
        release(block);
    }
    return moved;
}

static void *jv_reallocarray(void *memory, size_t count, size_t bytes)
{
    if (__builtin_mul_overflow(count, bytes, &bytes)) {
        errno = ENOMEM;
        return 0;
    }
    return jv_realloc(memory, bytes);
}

static void *jv_aligned_alloc(size_t alignment, size_t bytes)
{
    return allocate(bytes, alignment);
}

static int jv_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    int saved = errno;
    if (!alignment || alignment % sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *block = allocate(bytes, alignment);
    errno = saved;
    if (block)
        *memory = block;
    return block ? 0 : ENOMEM;
}

static void *jv_valloc(size_t bytes)
{
    return allocate(bytes, PAGE);
}

static size_t jv_malloc_usable_size(void *memory)
{
    if (memory && in_heap(memory))
        return ((struct block *)memory - 1)->size;
    return library.usable ? library.usable(memory) : 0;
}
