int parse_options(int argc, char **argv)
{
    char *end;
    long port, depth, size, level;

    port = strtol(optarg, NULL, 10);               /* ruleid: errno_unchecked */
    depth = strtol(argv[1], (char **)NULL,         /* ruleid: errno_unchecked */
                   0);
    size = strtoul(argv[2], &end, 0);              /* ok: errno_unchecked */
    if (*end != '\0')
        usage();
    level = (long)strtod(argv[3], 0);              /* ruleid: errno_unchecked */
    return run(port, depth, size, level);
}

/* GNU style */
static unsigned long
read_limit (const char *text)
{
  char *tail;
  unsigned long value = strtoul (text, &tail, 10); /* ruleid: errno_unchecked */

  return value;
}

bool to_number(const char *text, long *out)
{
    errno = 0;
    *out = strtol(text, NULL, 10);                 /* ok: errno_unchecked */
    return errno == 0;
}

bool to_range(const char *text, long *out)
{
    long value = strtol(text, NULL, 10);           /* ok: errno_unchecked */
    if (errno == ERANGE && value == LONG_MAX)
        return false;
    *out = value;
    return true;
}

bool stale(const char *text, long *out)
{
    *out = strtol(text, NULL, 10);                 /* ruleid: errno_unchecked */
    return errno == 0;
}

const char *skip_number(const char *text, char **rest)
{
    counter += strtoll(text, rest, 10);            /* ok: errno_unchecked */
    return *rest;
}

double Parser::number(const std::string &text)
{
    char *last = nullptr;
    double x = std::strtod(text.c_str(), &last);   /* ok: errno_unchecked */
    if (last == text.c_str())
        throw bad_number(text);
    x += reader.strtol(text, NULL, 10);            /* ok: errno_unchecked */
    return x + std::strtof(text.c_str(), nullptr); /* ruleid: errno_unchecked */
}

static int set_gain(struct device *dev, const char *buf)
{
    uint16_t gain;

    if (kstrtou16(buf, 0, &gain))                  /* ok: errno_unchecked */
        return -EINVAL;
    dev->gain = gain;
    dev->offset = strtol(buf + 4, NULL, 16);       /* ruleid: errno_unchecked */
    return 0;
}

void read_row(char *s, int *cells)
{
    while (*s)
        *cells++ = strtoul(s, &s, 16);             /* ok: errno_unchecked */
}
