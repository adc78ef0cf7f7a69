int fill(int fd, char *to, size_t size)
{
    size_t n = read(fd, to, size); /* ruleid: sign_comparison */
    if (n < 0)
        return -1;
    return handle(to, n);
}

int receive(int s, char *to)
{
    unsigned int got;
    got = recv(s, to, 512, 0); /* ruleid: sign_comparison */
    if (got <= -1)
        return -1;
    return got;
}

int send_all(int s, const char *from, size_t left)
{
    uint32_t sent;
    while (left) {
        sent = send(s, from, left, 0); /* ruleid: sign_comparison */
        if (sent < 0)
            return -1;
        left -= sent;
    }
    return 0;
}

int link_of(const char *path, char *to, size_t size)
{
    size_t n;
    if ((n = readlink(path, to, size - 1)) < 0) /* ruleid: sign_comparison */
        return -1;
    to[n] = 0;
    return 0;
}

void upper(char *text)
{
    for (size_t i = 0; i < strlen(text) - 1; i++) /* ruleid: sign_comparison */
        text[i] = toupper(text[i]);
}

int words(const char *line)
{
    unsigned n = 0, i = 0;
    while (i <= strlen(line) - 2) { /* ruleid: sign_comparison */
        n += line[i] == ' ';
        i++;
    }
    return n;
}

int wide(const wchar_t *text)
{
    int n = 0;
    for (int i = 0; i < wcslen(text) - 1 && text[i]; i++) /* ruleid: sign_comparison */
        n += text[i] == L'/';
    return n;
}

int log_line(int fd, const char *line)
{
    u32 done = write(fd, line, strlen(line)); /* ruleid: sign_comparison */
    return done >= 0 ? 0 : -1;
}

int from_peer(int s, char *to, struct sockaddr *who, socklen_t *size)
{
    unsigned long bytes = recvfrom(s, to, 64, 0, who, size); /* ruleid: sign_comparison */
    if (bytes < 0)
        perror("recvfrom");
    return bytes;
}

int fill_signed(int fd, char *to, size_t size)
{
    ssize_t n = read(fd, to, size); /* ok: sign_comparison */
    if (n < 0)
        return -1;
    return handle(to, n);
}

int fill_int(int fd, char *to, size_t size)
{
    int n;
    n = read(fd, to, size); /* ok: sign_comparison */
    return n < 0 ? -1 : n;
}

int fill_cast(int fd, char *to, size_t size)
{
    size_t n = read(fd, to, size); /* ok: sign_comparison */
    if (n == (size_t)-1)
        return -1;
    return n;
}

int of_unsigned_function(struct reader *r, char *to)
{
    size_t n = r->read(r, to); /* ok: sign_comparison */
    if (n < 0)
        return -1;
    return n;
}

void upper_checked(char *text)
{
    if (text[0] == '\0')
        return;
    for (size_t i = 0; i < strlen(text) - 1; i++) /* ok: sign_comparison */
        text[i] = toupper(text[i]);
}

void upper_added(char *text)
{
    for (size_t i = 0; i + 1 < strlen(text); i++) /* ok: sign_comparison */
        text[i] = toupper(text[i]);
}

int last(const char *text)
{
    return text[strlen(text) - 1]; /* ok: sign_comparison */
}

void copy_most(char *to, const char *from)
{
    memcpy(to, from, strlen(from) - 1); /* ok: sign_comparison */
}

int fill_int64(int fd, char *to, size_t size)
{
    int64_t n = read(fd, to, size); /* ok: sign_comparison */
    if (n < 0)
        return -1;
    return n;
}
