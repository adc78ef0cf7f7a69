struct entry {
    int key;
    long value;
};

void clear_rest(uint32_t *table, size_t used, size_t all)
{
    memset(table + used * sizeof(*table), 0, (all - used) * sizeof(*table)); /* ruleid: scaled_twice */
}

struct entry *entry_at(struct entry *entries, size_t n)
{
    return entries + n * sizeof(struct entry); /* ruleid: scaled_twice */
}

void skip(const int *from, int count)
{
    const int *p = from;
    p += count * sizeof(int); /* ruleid: scaled_twice */
    show(p);
}

unsigned char *payload(struct header *h)
{
    return (unsigned char *)(h + sizeof(struct header)); /* ruleid: scaled_twice */
}

void append(wchar_t *to, size_t used, const wchar_t *from, size_t n)
{
    wmemcpy(to + (used * sizeof(wchar_t)), from, n); /* ruleid: scaled_twice */
}

int sum_of(void)
{
    int numbers[16], sum = 0;
    const int *end = numbers + sizeof(numbers); /* ruleid: scaled_twice */
    for (const int *p = numbers; p < end; p++)
        sum += *p;
    return sum;
}

char **environment_end(char **names, size_t count)
{
    return names + sizeof(char *) * count; /* ruleid: scaled_twice */
}

uint16_t *checksum_of(uint16_t *words, struct packet *packet)
{
    words += sizeof(struct packet); /* ruleid: scaled_twice */
    return words;
}

double mean(const double *values)
{
    size_t count = sizeof(values) / sizeof(values[0]); /* ruleid: scaled_twice */
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

int has(int numbers[], int wanted)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(int); i++) /* ruleid: scaled_twice */
        if (numbers[i] == wanted)
            return 1;
    return 0;
}

void clear_tail(uint32_t *table, size_t used, size_t all)
{
    memset(table + used, 0, (all - used) * sizeof(*table)); /* ok: scaled_twice */
}

struct entry *entry_behind(void *entries, size_t n)
{
    char *bytes = entries;
    return (struct entry *)(bytes + n * sizeof(struct entry)); /* ok: scaled_twice */
}

unsigned char *body_of(struct header *h)
{
    return (unsigned char *)h + sizeof(struct header); /* ok: scaled_twice */
}

void *behind(void *block, size_t n)
{
    return block + n * sizeof(long); /* ok: scaled_twice */
}

int total_of(void)
{
    int numbers[16], total = 0;
    const int *end = numbers + sizeof(numbers) / sizeof(numbers[0]); /* ok: scaled_twice */
    for (const int *p = numbers; p < end; p++)
        total += *p;
    return total;
}

uint16_t *data_of(uint16_t *words)
{
    return words + sizeof(struct packet) / sizeof(*words); /* ok: scaled_twice */
}

uint16_t *halves_of(uint16_t *words)
{
    return words + (sizeof(struct packet) >> 1); /* ok: scaled_twice */
}

struct list *make(size_t n)
{
    size_t size = sizeof(struct list) + n * sizeof(struct entry); /* ok: scaled_twice */
    return malloc(size);
}

size_t bytes_of(const size_t *count, size_t fixed)
{
    return *count * sizeof(struct entry) + fixed * sizeof(int); /* ok: scaled_twice */
}

int count_names(void)
{
    const char *names[] = {"a", "b"};
    return sizeof(names) / sizeof(names[0]); /* ok: scaled_twice */
}

uint8_t *octets_at(uint8_t *octets, size_t n)
{
    return octets + n * sizeof(*octets); /* ok: scaled_twice */
}

size_t words_in(const struct packet *packet)
{
    return sizeof(*packet) / sizeof(uint32_t); /* ok: scaled_twice */
}

off_t offset_of(off_t start, int n)
{
    return start + n * sizeof(struct entry); /* ok: scaled_twice */
}
