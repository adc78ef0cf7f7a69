int reply(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name); /* ruleid: snprintf_result */
    return write(fd, line, n);
}

void list(char *out, size_t size, char **names, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++)
        at += snprintf(out + at, size - at, "%s,", names[i]); /* ruleid: snprintf_result */
}

void header(struct page *p, const char *title, const char *text)
{
    int off = 0;
    off += snprintf(p->buf + off, sizeof(p->buf) - off, "<h1>%s</h1>", title); /* ruleid: snprintf_result */
    off += snprintf(p->buf + off, sizeof(p->buf) - off, "<p>%s</p>", text); /* ok: snprintf_result */
    p->length = off;
}

static ssize_t show(struct device *dev, char *buf)
{
    ssize_t len = 0;
    for (struct item *one = dev->first; one; one = one->next)
        len = len + snprintf(buf + len, PAGE_SIZE - len, "%s\n", one->name); /* ruleid: snprintf_result */
    return len;
}

void send_to(int s, struct sockaddr *to, const char *user)
{
    char packet[128];
    int length;

    length = snprintf(packet, sizeof(packet), "USER %s\r\n", user); /* ruleid: snprintf_result */
    if (length < 0)
        return;
    sendto(s, packet, length, 0, to, sizeof(*to));
}

char *keep(const char *a, const char *b)
{
    char text[32], *copy;
    size_t n = (size_t)snprintf(text, 32, "%s/%s", a, b); /* ruleid: snprintf_result */
    copy = malloc(n + 1);
    memcpy(copy, text, n + 1);
    return copy;
}

void ended(char *to, size_t size, const char *from)
{
    int n = snprintf(to, size, "%s", from); /* ruleid: snprintf_result */
    to[n] = '\0';
}

int checked_wrong(FILE *f, char *to, size_t size, const char *from)
{
    int n = snprintf(to, size, "%s", from); /* ruleid: snprintf_result */
    if (n > size)
        return -1;
    return fwrite(to, 1, n, f);
}

void formatted(struct client *c, const char *format, va_list list)
{
    char text[512];
    int n = vsnprintf(text, sizeof text, format, list); /* ruleid: snprintf_result */
    SSL_write(c->ssl, text, n);
}

int reply_checked(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name); /* ok: snprintf_result */
    if (n < 0 || n >= (int)sizeof line)
        return -1;
    return write(fd, line, n);
}

void list_checked(char *out, size_t size, char **names, int count)
{
    size_t at = 0;
    for (int i = 0; i < count && at < size; i++)
        at += snprintf(out + at, size - at, "%s,", names[i]); /* ok: snprintf_result */
}

int reply_number(int fd, int code)
{
    char line[64];
    int n = snprintf(line, sizeof line, "code %d\n", code); /* ok: snprintf_result */
    return write(fd, line, n);
}

void reply_limited(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name); /* ok: snprintf_result */
    write(fd, line, MIN(n, sizeof line - 1));
}

char *measured(const char *a)
{
    int n = snprintf(NULL, 0, "%s", a); /* ok: snprintf_result */
    char *text = malloc(n + 1);
    snprintf(text, n + 1, "%s", a); /* ok: snprintf_result */
    return text;
}

void reply_of_length(int fd, const char *name)
{
    char line[64];
    snprintf(line, sizeof line, "hello %s\n", name); /* ok: snprintf_result */
    write(fd, line, strlen(line));
}

int returned(char *to, size_t size, const char *from)
{
    return snprintf(to, size, "%s", from); /* ok: snprintf_result */
}

void clamped(char *out, int size, const char *a, const char *b)
{
    int at = 0;
    at += snprintf(out + at, size - at, "%s", a); /* ok: snprintf_result */
    if (at >= size)
        at = size - 1;
    snprintf(out + at, size - at, "%s", b); /* ok: snprintf_result */
}

void set_again(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name); /* ok: snprintf_result */
    n = strlen(line);
    write(fd, line, n);
}

int counted(const char *a)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%s", a); /* ok: snprintf_result */
    total += n;
    return total;
}

char *join_texts(const char *name, const char *realm, const char *opaque)
{
    size_t size = strlen(name) + strlen(realm) + (opaque ? strlen(opaque) : 0) + 64;
    char *text = allocate(size);
    int at = snprintf(text, size, "name=%s", name);       /* ok: snprintf_result */

    at += snprintf(text + at, size - at, ", opaque=%s", opaque); /* ok: snprintf_result */
    return text + at;
}

char *join_some(const char *name, const char *realm, const char *opaque)
{
    size_t size = strlen(name) + strlen(realm) + 64;
    char *text = allocate(size);
    int at = snprintf(text, size, "name=%s", name);

    at += snprintf(text + at, size - at, ", opaque=%s", opaque); /* ruleid: snprintf_result */
    return text + at;
}

/* Numbers and short literals cannot fill the buffer. */
const char *uptime_text(time_t seconds)
{
    static char text[128];
    int days = (int)seconds / 86400, at = 0;
    at += snprintf(text, sizeof text - 1, "%s", ", up for ");
    if (days)
        at += snprintf(text + at, sizeof text - at, "%d day%s, ", days, (days != 1) ? "s" : ""); /* ok: snprintf_result */
    snprintf(text + at, sizeof text - at, "%d min", (int)seconds / 60 % 60);
    return text;
}

const char *uptime_short(time_t seconds)
{
    static char text[16];
    int days = (int)seconds / 86400, at = 0;
    at += snprintf(text, sizeof text - 1, "%s", ", up for ");
    at += snprintf(text + at, sizeof text - at, "%d day%s, ", days, (days != 1) ? "s" : ""); /* ruleid: snprintf_result */
    snprintf(text + at, sizeof text - at, "%d min", (int)seconds / 60 % 60);
    return text;
}

const char *uptime_aligned(time_t seconds)
{
    static char text[128];
    int at = 0;
    at &= 15;
    at += snprintf(text + at, sizeof text - at, "%d days, ", (int)seconds / 86400); /* ruleid: snprintf_result */
    snprintf(text + at, sizeof text - at, "%d min", (int)seconds / 60 % 60);
    return text;
}

const char *uptime_from(time_t seconds, int at)
{
    static char text[128];
    at = base_of(at);
    at += snprintf(text + at, sizeof text - at, "%d days, ", (int)seconds / 86400); /* ruleid: snprintf_result */
    snprintf(text + at, sizeof text - at, "%d min", (int)seconds / 60 % 60);
    return text;
}
