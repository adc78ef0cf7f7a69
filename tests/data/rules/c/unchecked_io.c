/* A daemon gives up its rights. */
static void drop_rights(uid_t user, gid_t group)
{
    setgroups(0, NULL);                            /* ruleid: unchecked_io */
    setgid(group);                                 /* ruleid: unchecked_io */
    if (setuid(user) != 0)                         /* ok: unchecked_io */
        abort();
    (void)chdir("/var/empty");                     /* ok: unchecked_io */
    chdir("/");                                    /* ok: unchecked_io */
}

#define TRY(call) do { if ((call) < 0) goto failed; } while (0)

int copy_file(int from, int to, const char *name)
{
    char buffer[4096];
    ssize_t n;
    int ret;

    read(from, buffer, sizeof buffer);             /* ruleid: unchecked_io */
    n = read(from, buffer, sizeof buffer - 1);     /* ruleid: unchecked_io */
    buffer[n] = 0;
    n = read(from, buffer, sizeof buffer);         /* ok: unchecked_io */
    if (n <= 0)
        return -1;
    while ((n = read(from, buffer,                 /* ok: unchecked_io */
                     sizeof buffer)) > 0)
        TRY(write(to, buffer, n));                 /* ok: unchecked_io */
    if (n == 0)
        ftruncate(to, /* bytes */ 512);            /* ruleid: unchecked_io */
    else
        return ftruncate(to, 0);                   /* ok: unchecked_io */
    write(to, "x", 1);                             /* ok: unchecked_io */
    write(STDERR_FILENO, name, strlen(name));      /* ok: unchecked_io */
    fwrite(name, 1, 8, stdout);                    /* ok: unchecked_io */
    ret = rename(name, "old");                     /* ruleid: unchecked_io */
    return 0;
failed:
    return -1;
}

static long dev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
    struct settings s;

    copy_from_user(&s, (void __user *)arg,         /* ruleid: unchecked_io */
                   sizeof(s));
    if (copy_to_user((void __user *)arg, &s, sizeof(s)))  /* ok: unchecked_io */
        return -EFAULT;
    return 0;
}

void Log::flush(FILE *file, socket_t s)
{
    device.read(s, file, 3);                       /* ok: unchecked_io */
    this->write(s, file, 3);                       /* ok: unchecked_io */
    std::fwrite(text, 1, size, file);              /* ruleid: unchecked_io */
    fclose(file);                                  /* ruleid: unchecked_io */
}

int count_lines(const char *name)
{
    FILE *f = fopen(name, "r");
    int width = 80;

    sscanf(name, "%d", &lines);                    /* ruleid: unchecked_io */
    bool got = fgets(line, 80, f) != NULL;         /* ok: unchecked_io */
    fclose(f);                                     /* ok: unchecked_io */
    return got;
}
void uart_init(uint8_t port)
{
    uint16_t got;
    lseek(port, /* ruleid: unchecked_io */
          0, SEEK_SET);
    got = read(port, rx_buf, sizeof rx_buf); /* ok: unchecked_io */
    rx_len = got;
    pipe(wake_fds); /* ruleid: unchecked_io */
}
void without_arguments(void)
{
    setuid();                                      /* ruleid: unchecked_io */
    fread();                                       /* ok: unchecked_io */
}

int forget(const char *old_file, struct list *list, struct node *node)
{
    remove(old_file);                              /* ruleid: unchecked_io */
    remove("session.tmp");                         /* ruleid: unchecked_io */
    _wremove(L"session.tmp");                      /* ruleid: unchecked_io */
    if (remove(old_file) != 0)                     /* ok: unchecked_io */
        return -1;
    remove(node);                                  /* ok: unchecked_io */
    remove(list, node);                            /* ok: unchecked_io */
    if (!save(list)) {
        remove(old_file);                          /* ok: unchecked_io */
        return -1;
    }
    return 0;
}

/* The byte that wakes a thread up, and the number that is there if nothing is read */
int drain(struct loop *loop)
{
    char wake;
    char kept;
    int value = -1;

    read(loop->pipe[0], &kept, 1);                 /* ruleid: unchecked_io */
    recv(loop->pair[0], &wake, 1, 0);              /* ok: unchecked_io */
    sscanf(loop->text, "%d", &value);              /* ok: unchecked_io */
    return value + kept;
}

int write_all(FILE *file, const char *text)
{
    if (fputs(text, file) == EOF) {
        int saved = errno;
        fclose(file);                              /* ok: unchecked_io */
        errno = saved;
        return report(text);
    }
    fclose(file);                                  /* ruleid: unchecked_io */
    return 0;
}

void ask(const char *question)
{
    FILE *terminal = fopen("/dev/tty", "w");

    fputs(question, terminal);
    fclose(terminal);                              /* ok: unchecked_io */
}

void end_text(FILE *file, int fd, char *text, size_t size)
{
    size_t n = fread(text, 1, size, file);         /* ok: unchecked_io */
    text[n] = 0;
    ssize_t r = read(fd, text, size);              /* ruleid: unchecked_io */
    text[r] = 0;
}

int resolve(const char *from, const char *to)
{
    char *cwd = getcwd(NULL, 0);                   /* ok: unchecked_io */
    char *target;

    if (!cwd
        || chdir(cwd))                             /* ok: unchecked_io */
        return -1;
    target = chdir(from) ? NULL : getcwd(NULL, 0); /* ok: unchecked_io */
    if (is_relative(to)
        && chdir(cwd))                             /* ok: unchecked_io */
        abort();
    while (target && errno
           && chdir(target) != 0)                  /* ok: unchecked_io */
        errno = 0;
    switch (errno) {
    case EACCES:
        chdir(target);                             /* ruleid: unchecked_io */
    }
    return target != NULL;
}
