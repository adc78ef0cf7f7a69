int load(const char *name, size_t n)
{
    FILE *f = fopen(name, "r");                    /* ruleid: error_path_leak */
    char *buffer;

    if (f == NULL)
        return -1;
    buffer = malloc(n);                            /* ok: error_path_leak */
    if (!buffer)
        return -1;
    if (fread(buffer, 1, n, f) != n) {
        free(buffer);
        fclose(f);
        return -1;
    }
    fclose(f);
    return publish(buffer);
}

static int probe(struct device *dev)
{
    struct state *state;
    u8 *block, *copy;

    state = kzalloc(sizeof(*state), GFP_KERNEL);   /* ok: error_path_leak */
    if (!state)
        return -ENOMEM;
    block = kmalloc(512, GFP_KERNEL);              /* ok: error_path_leak */
    if (!block) {
        kfree(state);
        return -ENOMEM;
    }
    copy = kmemdup(dev->data, 512,                 /* ruleid: error_path_leak */
                   GFP_KERNEL);
    if (!copy)
        goto out;
    if (read_block(dev, block) < 0)
        goto out;
    compare(dev, copy);
    kfree(copy);
out:
    kfree(block);
    kfree(state);
    return 0;
}

int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);      /* ruleid: error_path_leak */

    if (fd < 0)
        return -1;
    if (bind(fd, address(port), 16) < 0)
        return -1;
    return fd;
}

int listen_well(uint16_t port)
{
    int fd;

    if ((fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) /* ok: error_path_leak */
        return -1;
    if (bind(fd, address(port), 16) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* GNU style, one label for all */
char *
join (const char *a, const char *b)
{
  char *s = strdup (a);                            /* ok: error_path_leak */
  char *t;

  if (s == NULL)
    goto failed;
  t = strdup (b);                                  /* ruleid: error_path_leak */
  if (t == NULL)
    goto failed;
  if (strlen (t) > 100)
    goto failed;
  add (s, 1);
  memcpy (s, t, strlen (t));
  free (t);
  return s;
failed:
  free (s);
  return NULL;
}

void Cache::fill(const char *name)
{
    char *key = strdup(name);                      /* ok: error_path_leak */
    entries.push_back(key);
    if (full())
        return;
    std::unique_ptr<char, Free> copy(strdup(name)); /* ok: error_path_leak */
    DIR *dir = opendir(name);                      /* ruleid: error_path_leak */
    if (!dir)
        return;
    for (auto *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_type != DT_REG)
            throw odd_entry(name);
    closedir(dir);
}

void remember(struct table *table)
{
    char *name = malloc(16);                       /* ok: error_path_leak */
    if (name == NULL)
        return;
    table->name = name;
    if (table->full)
        return;
    static char *once;
    once = malloc(16);                             /* ok: error_path_leak */
    if (table->busy)
        return;
}

int either(const char *name, int wanted)
{
    FILE *f = NULL;

    if (wanted)
        f = fopen(name, "r");                      /* ok: error_path_leak */
    else
        return -1;
    if (f) {
        use_up(wanted);
        fclose(f);
    } else {
        return -1;
    }
#ifdef LATER
    return -2;
#endif
    return 0;
}

void forget(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *line = malloc(80);                   /* ruleid: error_path_leak */
        snprintf(line, 80, "%zu", i);
        puts(line);
    }
}

int sort_out(int kind, size_t n)
{
    char *p = calloc(n, 1);                        /* ok: error_path_leak */
    if (IS_ERR(p) || !p)
        return -1;
    switch (kind) {
    case 1:
        free(p);
        return 1;
    default:
        break;
    }
    auto length = [&]() { return strlen(p); };
    n = length();
    free(p);
    return 0;
}

int first_line(const char *name, char *line)
{
    FILE *f;
    if (NULL == (f = fopen(name, "r")))                /* ok: error_path_leak */
        return -1;
    fgets(line, 80, f);
    fclose(f);
    return 0;
}

int has_network(void)
{
    int s;

    s = socket(AF_INET, SOCK_STREAM, 0);           /* ok: error_path_leak */
    if (s != INVALID_SOCKET) {
        close(s);
        return 1;
    }
    return 0;
}

int create_unique(const char *name)
{
    int fd;

    while (next_name(name)) {
        fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600); /* ok: error_path_leak */
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    return -1;
}
