#define LOG(fmt, ...) fprintf(stderr, "log: " fmt "\n", ##__VA_ARGS__)  /* ok: format_string */
#define SAY printf
static const char banner[] = "hello %s";
int printf(const char *format, ...) __attribute__((format(printf, 1, 2))); /* ok: format_string */

void show(FILE *out, const char *text, int n)
{
    const char *fmt = n ? "%d\n" : "%i\n";
    const char *other = text;
    printf(text);                                  /* ruleid: format_string */
    fprintf(stderr, text);                         /* ruleid: format_string */
    fprintf(get_stream(out, 1), text, n);          /* ruleid: format_string */
    snprintf(buf, sizeof(buf), text);              /* ruleid: format_string */
    syslog(LOG_ERR, argv[1]);                      /* ruleid: format_string */
    printf(other, n);                              /* ruleid: format_string */
    errx(1, msg->text);                            /* ruleid: format_string */
    printf(n ? "yes" : text);                      /* ruleid: format_string */
    printk(describe("a"));                         /* ruleid: format_string */
    printf("%d\n", n);                             /* ok: format_string */
    printf(/* why */ "%d\n", n);                   /* ok: format_string */
    printf(("%d\n"), n);                           /* ok: format_string */
    fprintf(out, "%" PRIu64 "\n", n);              /* ok: format_string */
    fprintf(out, FORMAT, n);                       /* ok: format_string */
    fprintf(out, FORMAT_OF(n) "\n", n);            /* ok: format_string */
    snprintf(buf, sizeof(buf), "%s", text);        /* ok: format_string */
    printf(_("%d files\n"), n);                    /* ok: format_string */
    printf(ngettext("%d file", "%d files", n), n); /* ok: format_string */
    printf(n == 1 ? "one" : (n ? "many" : "none")); /* ok: format_string */
    printf(fmt, n);                                /* ok: format_string */
    printf(banner, text);                          /* ok: format_string */
    logger.printf(text);                           /* ok: format_string */
    my_printf(text);                               /* ok: format_string */
    printf(__VA_ARGS__);                           /* ok: format_string */
    dprintf("c=%d\n", n);                          /* ok: format_string */
    printk(KERN_DEBUG pr_fmt(PREFIX what "\n"), n); /* ok: format_string */
    err(1);                                        /* ok: format_string */
    puts("printf(text)");                          /* ok: format_string */
}

#define TRACE(args...) do { if (verbose) fprintf(stderr, ##args); } while (0) /* ruleid: format_string */
#define RATE(name) do {                            \
    snprintf(key, sizeof(key),                     \
             PREFIX TEXT_OF(name) "_rate");        \
} while (0)
void rates(void)
{
    char key[64];
    snprintf(key, sizeof(key), PREFIX \
             TEXT_OF(x) "_rate");                   /* ok: format_string */
}

/* What is like printf itself passes its own format on. */
int say(FILE *out, const char *format, ...)
{
    va_list list;
    int printed;

    va_start(list, format);
    printed = vfprintf(out, format, list);         /* ok: format_string */
    va_end(list);
    return printed;
}

int say_old(out, format, a1, a2, a3)
FILE *out; char *format; long a1, a2, a3;
{
    return fprintf(out, format, a1, a2, a3);       /* ok: format_string */
}

int say_plain(const char *format, long a1)
{
    printf(format);                                /* ruleid: format_string */
    return printf(format, a1, other);              /* ruleid: format_string */
}

void say_global(va_list list)
{
    vprintf(global_format, list);                  /* ruleid: format_string */
}

void say_part_of_a_literal(int bare, int value)
{
    static const char digits[] = {'%', 'd', 0};
    printf(&" %d"[bare], value);                   /* ok: format_string */
    printf(digits, value);                         /* ok: format_string */
    printf(&global_format[bare], value);           /* ruleid: format_string */
}
