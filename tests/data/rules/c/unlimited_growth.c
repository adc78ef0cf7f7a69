char *line_of(int s)
{
    size_t used = 0;
    char *line = NULL, c;
    while (recv(s, &c, 1, 0) == 1 && c != '\n') {
        char *more = realloc(line, used + 1); /* ruleid: unlimited_growth */
        if (more == NULL)
            break;
        line = more;
        line[used++] = c;
    }
    return line;
}

char *whole(FILE *f)
{
    size_t size = 64, used = 0;
    char *text = malloc(size);
    size_t n;
    while ((n = fread(text + used, 1, size - used, f)) > 0) {
        used += n;
        if (used == size) {
            size *= 2;
            text = xrealloc(text, size); /* ok: unlimited_growth */
            text = realloc(text, size); /* ruleid: unlimited_growth */
        }
    }
    return text;
}

void collect(struct conn *c)
{
    for (;;) {
        int n = SSL_read(c->ssl, c->in + c->used, c->size - c->used);
        if (n <= 0)
            break;
        c->used += n;
        c->in = realloc(c->in, c->size += 4); /* ruleid: unlimited_growth */
    }
}

char *word(void)
{
    char *text = NULL;
    int c, n = 0;
    do {
        c = getchar();
        text = realloc(text, ++n); /* ruleid: unlimited_growth */
        text[n - 1] = c;
    } while (c != ' ');
    return text;
}

int lines(FILE *f, struct list *l)
{
    char line[80];
    while (fgets(line, sizeof line, f)) {
        l->all = (char **)realloc(l->all, (l->count + 1) * sizeof(char *)); /* ruleid: unlimited_growth */
        l->all[l->count++] = strdup(line);
    }
    return l->count;
}

int drain(int fd, char **to, size_t *size)
{
    char part[64];
    ssize_t n;
    while ((n = read(fd, part, sizeof part)) > 0)
    {
        char *more = reallocarray(*to, *size + n, 1); /* ruleid: unlimited_growth */
        if (!more)
            return -1;
        memcpy(more + *size, part, n);
        *to = more;
        *size += n;
    }
    return 0;
}

std::size_t gather(gzFile in, char *&text)
{
    std::size_t used = 0;
    while (int n = gzread(in, part, sizeof part)) {
        text = static_cast<char *>(std::realloc(text, used + n)); /* ruleid: unlimited_growth */
        std::memcpy(text + used, part, n);
        used += n;
    }
    return used;
}

void clients(int s)
{
    while (running) {
        int fd = accept(s, NULL, NULL);
        if (fd >= 0) {
            all = realloc(all, (count + 1) * sizeof *all); /* ruleid: unlimited_growth */
            all[count++] = fd;
        }
    }
}

char *limited_line(int s)
{
    size_t used = 0;
    char *line = NULL, c;
    while (recv(s, &c, 1, 0) == 1 && c != '\n') {
        if (used >= MAX_LINE)
            return NULL;
        line = realloc(line, used + 1); /* ok: unlimited_growth */
        line[used++] = c;
    }
    return line;
}

char *limited_file(FILE *f)
{
    size_t used = 0;
    char *text = NULL;
    int c;
    while ((c = getc(f)) != EOF && used < 4096) {
        text = realloc(text, used + 1); /* ok: unlimited_growth */
        text[used++] = c;
    }
    return text;
}

int with_limit(struct conn *c)
{
    for (;;) {
        int n = recv(c->fd, c->part, sizeof c->part, 0);
        if (n <= 0 || c->used + n > c->limit)
            return n;
        c->in = realloc(c->in, c->used + n); /* ok: unlimited_growth */
        c->used += n;
    }
}

void of_a_list(struct list *l)
{
    for (struct item *one = l->first; one; one = one->next) {
        l->names = realloc(l->names, l->count + 1); /* ok: unlimited_growth */
        l->count++;
    }
}

char *once(int s)
{
    char *text = malloc(16);
    int n = recv(s, text, 16, 0);
    return realloc(text, n); /* ok: unlimited_growth */
}

void after(int s, char *text)
{
    while (recv(s, text, 16, 0) > 0) {
        handle(text);
    }
    text = realloc(text, 8); /* ok: unlimited_growth */
    keep(text);
}

int refused(FILE *f)
{
    char *text = NULL;
    int c, n = 0;
    while ((c = fgetc(f)) != EOF) {
        if (++n > 65536)
            return too_long(f);
        text = realloc(text, n); /* ok: unlimited_growth */
    }
    return keep(text);
}

void in_a_comment(int s)
{
    while (recv(s, text, 16, 0) > 0) {
        /* text = realloc(text, n); */ /* ok: unlimited_growth */
        log("realloc(text, n)"); /* ok: unlimited_growth */
    }
}
