#include <string.h>
extern char *strcpy(char *dst, const char *src);   /* ok: unsafe_api */
char *strcat(char *, const char *);                /* ok: unsafe_api */
static inline char *
stpcpy(char *dst, const char *src);                /* ok: unsafe_api */

#define COPY(d, s) strcpy(d, s)                    /* ruleid: unsafe_api */
#define JOIN(d, s) do { \
        strcat(d, s);  /* ruleid: unsafe_api */ \
    } while (0)

int greet(char *dst, const char *name)
{
    char buf[64];
    strcpy(buf, name);                             /* ruleid: unsafe_api */
    strcat (buf, name);                            /* ruleid: unsafe_api */
    strcpy                                         /* ruleid: unsafe_api */
        (dst, buf);
    gets(buf);                                     /* ruleid: unsafe_api */
    sprintf(dst, "hello %s", name);                /* ruleid: unsafe_api */
    if (*name) return sprintf(dst, "%d", 3);       /* ok: unsafe_api */
    if (name) wcscpy(wide, name); else stpcpy(dst, name); /* ruleid: unsafe_api */
    my_strcpy(buf, name);                          /* ok: unsafe_api */
    strcpy_s(buf, sizeof buf, name);               /* ok: unsafe_api */
    list->strcpy(buf, name);                       /* ok: unsafe_api */
    ops.strcat(buf, name);                         /* ok: unsafe_api */
    snprintf(buf, sizeof buf, "strcpy(a, b)");     /* ok: unsafe_api */
    /* strcpy(buf, name); */                       /* ok: unsafe_api */
    // strcpy(buf, name); \
       strcpy(buf, name);                             ok: unsafe_api
    gets(stream, buf, 3);                          /* ok: unsafe_api */
    return '"' + strcpy /* now */ (dst, "\"")[0];  /* ok: unsafe_api */
}

#if 0
    strcpy(a, b);                                  /* ok: unsafe_api */
#  if 1
    strcpy(a, b);                                  /* ok: unsafe_api */
#  else
    strcpy(a, b);                                  /* ok: unsafe_api */
#  endif
#else
void live(void) { strcpy(a, b); }                  /* ruleid: unsafe_api */
#endif

#define SHORT_TEXT "ok"
struct entry { char label[8]; };

int sizes(struct entry *e, const char *name, int n, long big)
{
    char small[8], same[8], large[64], digits[12];
    char *heap = malloc(strlen(name) + 1);
    char *tight = malloc(strlen(name));
    if (!heap || !tight)
        return -1;
    strcpy(small, "12345678");                         /* ruleid: unsafe_api */
    strcpy(tight, name);                               /* ruleid: unsafe_api */
    strcpy(small, large);                              /* ruleid: unsafe_api */
    strcpy(e->label, "too long a label");              /* ruleid: unsafe_api */
    sprintf(small, "%s", "12345678");                  /* ruleid: unsafe_api */
    sprintf(small, "number %d", n);                    /* ruleid: unsafe_api */
    sprintf(digits, "%ld", big);                       /* ruleid: unsafe_api */
    strcpy(small, "1234567");                          /* ok: unsafe_api */
    strcpy(heap, name);                                /* ok: unsafe_api */
    strcpy(large, small);                              /* ok: unsafe_api */
    strcpy(small, SHORT_TEXT);                         /* ok: unsafe_api */
    strcpy(e->label, "label");                         /* ok: unsafe_api */
    sprintf(digits, "%d", n);                          /* ok: unsafe_api */
    sprintf(large, "%.20s: %5u", name, n);             /* ok: unsafe_api */
    sprintf(large, "%s", n ? "yes" : "no");            /* ok: unsafe_api */
    small[0] = '\0';
    strcat(small, "end");                              /* ok: unsafe_api */
    return 0;
}

class Name {
public:
    void set(const char *text) { strcpy(text_, text); } /* ruleid: unsafe_api */
    void clear() { strcpy(text_, ""); }                /* ok: unsafe_api */
    void copy(const std::string &s) { s.strcpy(text_); } /* ok: unsafe_api */
private:
    char text_[16];
};

int encode(char *out, const char *name, size_t n, int kind)
{
    char unit[4], first[8];
    char *heap = malloc(strlen(name) + 1);

    switch (kind) {
    case 1:
        unit[0] = '=';
        break;
    default:
        unit[0] = '\n';
    }
    strcpy(unit, "\x3D\x0D\x0A");                     /* ok: unsafe_api */
    if (!heap)
        return -1;
    fill(&heap[n]);
    strcpy(heap, name);                                /* ok: unsafe_api */
again:
    first[0] = 0;
    strcpy(first, "1234567");                          /* ok: unsafe_api */
    strcpy(first, "12345678");                         /* ruleid: unsafe_api */
    if (sizeof(first) > strlen(name))
        strcpy(first, name);                           /* ok: unsafe_api */
    take(&heap);
    strcpy(heap, name);                                /* ok: unsafe_api */
    return 0;
}

/* Nothing but blanks stands in front of the brace. */
int commented(const char *name)                        /* a long remark */
{
    char *heap = malloc(strlen(name) + 1);
    if (heap)
        strcpy(heap, name);                            /* ok: unsafe_api */
    return 0;
}

/* All who call it are in this file, and pass short texts. */
static void put_tag(char kind, const char *text)
{
    char line[16];
    strcpy(line, text);                                /* ok: unsafe_api */
    show(kind, line);
}

static void note(const char *text)
{
    char line[16];
    strcpy(line, text);                                /* ruleid: unsafe_api */
    show(0, line);
}

void show_all(const char *any)
{
    char path[sizeof("/sys/class/net/") + 4];
    put_tag('a', "first");
    put_tag('b', "second one");
    note("short");
    note(any);
    strcpy(path, "/sys/class/net/");                   /* ok: unsafe_api */
    strcpy(path, "/sys/class/net/" "eth0");            /* ok: unsafe_api */
    strcpy(path, "/sys/class/net/" "wlan0");           /* ruleid: unsafe_api */
}

/* The length of the source was allocated, or compared with a limit. */
struct message { char *text, *path; int fd; };
static const char prefix[] = { 0x69, 0x61, 0x6e, 0x61, 0x2d, 0 };

int measure(struct message *m, const char *path, const char *name, char **out)
{
    char title[TITLE_MAX], word[16];
    char *grown = realloc(m->path, strlen(path) + 1);
    size_t size = strlen(name) + 1;
    struct message *whole = allocate_message(HEADER + size);
    size_t before, after;

    if (!grown || !whole)
        return -1;
    m->path = grown;
    strcpy(m->path, path);                             /* ok: unsafe_api */
    strcpy(text_of(whole), name);                      /* ok: unsafe_api */
    if ((m->text = xmalloc(strlen(m->path) + strlen(name) + 3)) == NULL)
        return -1;
    strcpy(m->text, m->path);                          /* ok: unsafe_api */
    strcat(m->text, name);                             /* ok: unsafe_api */
    sprintf(m->text, "%s: %s", m->path, name);         /* ok: unsafe_api */
    strcpy(title, prefix);                             /* ok: unsafe_api */
    sprintf(title, "/dev/monitor%d", m->fd);           /* ok: unsafe_api */
    sprintf(&m->text[2 * m->fd], "%02X", name[0]);     /* ok: unsafe_api */
    strcpy(word, name);                                /* ruleid: unsafe_api */
    strcpy(title, m->path);                            /* ruleid: unsafe_api */
    return 0;
}

int compare(const char *user, const char *host)
{
    char title[TITLE_MAX];
    size_t one = strlen(user), other = strlen(host);

    if (one + other + 3 > TITLE_MAX)
        return -1;
    sprintf(title, "%s: %s", user, host);              /* ok: unsafe_api */
    return 0;
}

int compare_nothing(const char *user, const char *host)
{
    char title[TITLE_MAX];

    if (strlen(user) > 0 && strlen(host) != 0)
        sprintf(title, "%s: %s", user, host);          /* ruleid: unsafe_api */
    return 0;
}

int allocate_short(struct message *m, const char *name)
{
    size_t size = strlen(name);

    m->text = xmalloc(size);
    strcpy(m->text, name);                             /* ruleid: unsafe_api */
    return 0;
}
