void on_packet(int s)
{
    unsigned char packet[64];
    ssize_t n = recv(s, packet, sizeof packet, 0);
    assert(n >= 4); /* ruleid: reachable_assertion */
    assert(packet[0] == 1); /* ruleid: reachable_assertion */
    handle(packet, n);
}

void on_header(FILE *f)
{
    struct header h;
    size_t got = fread(&h, 1, sizeof h, f);
    assert(got == sizeof h); /* ruleid: reachable_assertion */
    assert(h.magic == MAGIC); /* ruleid: reachable_assertion */
    use(&h);
}

int type_of(const unsigned char *p)
{
    int type = ntohs(*(const uint16_t *)p);
    assert(type < TYPES); /* ruleid: reachable_assertion */
    return table[type];
}

int level(const char *text)
{
    long n = strtol(text, NULL, 10);
    assert(n >= 0 && n < 10); /* ruleid: reachable_assertion */
    return levels[n];
}

void commands(void)
{
    char line[80];
    while (fgets(line, sizeof line, stdin)) {
        assert(line[0] != '#'); /* ruleid: reachable_assertion */
        run(line);
    }
}

int count(void)
{
    int n;
    scanf("%d", &n);
    g_assert(n > 0); /* ruleid: reachable_assertion */
    return n;
}

u32 size_of(struct packet *p)
{
    u32 size = be32_to_cpu(p->size);
    BUG_ON(size > MOST); /* ruleid: reachable_assertion */
    return size;
}

void on_packet_checked(int s)
{
    unsigned char packet[64];
    ssize_t n = recv(s, packet, sizeof packet, 0);
    if (n < 4)
        return;
    assert(n >= 4); /* ok: reachable_assertion */
    handle(packet, n);
}

void on_header_checked(FILE *f)
{
    struct header h;
    if (fread(&h, 1, sizeof h, f) != sizeof h || h.magic != MAGIC)
        return;
    if (h.magic == OLD)
        convert(&h);
    assert(h.magic == MAGIC); /* ok: reachable_assertion */
}

void on_event(struct loop *loop, int fd)
{
    char c;
    assert(loop != NULL); /* ok: reachable_assertion */
    assert(fd >= 0); /* ok: reachable_assertion */
    read(fd, &c, 1);
    assert(loop->running); /* ok: reachable_assertion */
}

int sum(const struct list *l)
{
    int n = l->count;
    assert(n < MOST); /* ok: reachable_assertion */
    return n;
}

int of_name(const char *text)
{
    long n = strtol(text, NULL, 10);
    static_assert(sizeof n == 8, "n"); /* ok: reachable_assertion */
    log("assert(n)"); /* ok: reachable_assertion */
    return n;
}

int by_another(const char *text)
{
    int n = parse(text);
    getchar();
    assert(n == 1); /* ok: reachable_assertion */
    assert(0); /* ok: reachable_assertion */
    return n;
}

int treeTest(int argc, char **argv)
{
    long count = strtol(argv[2], NULL, 10);
    fill(count);
    assert(tree_size() == count); /* ok: reachable_assertion */
    return argc;
}

int treeLatest(int argc, char **argv)
{
    long count = strtol(argv[2], NULL, 10);
    fill(count);
    assert(tree_size() == count); /* ruleid: reachable_assertion */
    return argc;
}
