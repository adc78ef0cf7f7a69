#include <string.h>
#define NAME_MAX_LEN 64
#define GREETING "hello, world"
void *memcpy(void *dst, const void *src, size_t n);        /* ok: boundary_funcs */
struct node { char name[32]; struct node *next; };
static u8 table[16];

/* sizes that are known, and do not fit */
int known(const char *in, struct node *x, size_t n)
{
    char buf[64], two[NAME_MAX_LEN];
    wchar_t wide[10];
    char *heap = malloc(strlen(in));
    char *exact = (char *)malloc(strlen(in) + 1);
    if (!heap || !exact)
        return -1;
    memcpy(buf, in, 65);                                   /* ruleid: boundary_funcs */
    memcpy(two, in, NAME_MAX_LEN + 1);                     /* ruleid: boundary_funcs */
    memcpy(heap, in, strlen(in) + 1);                      /* ruleid: boundary_funcs */
    memcpy(x->name, in, sizeof(buf));                      /* ruleid: boundary_funcs */
    wmemcpy(wide, L"0123456789", sizeof(wide));            /* ruleid: boundary_funcs */
    memset(table, 0, 17);                                  /* ruleid: boundary_funcs */
    memcpy(buf + 60, in, 5);                               /* ruleid: boundary_funcs */
    bcopy(in, buf, 100);                                   /* ruleid: boundary_funcs */
    snprintf(buf + n, sizeof(buf), "%s", in);              /* ruleid: boundary_funcs */
    memset(heap, 0, sizeof(heap));                         /* ruleid: boundary_funcs */
    memcpy(buf, in, 64);                                   /* ok: boundary_funcs */
    memcpy(two, in, NAME_MAX_LEN);                         /* ok: boundary_funcs */
    memcpy(exact, in, strlen(in) + 1);                     /* ok: boundary_funcs */
    memcpy(x->name, in, sizeof(x->name));                  /* ok: boundary_funcs */
    memcpy(buf + 60, in, 4);                               /* ok: boundary_funcs */
    memcpy(&x, &in, sizeof x);                             /* ok: boundary_funcs */
    memcpy(x, in, sizeof(*x));                             /* ok: boundary_funcs */
    memset(table, 0, sizeof table);                        /* ok: boundary_funcs */
    snprintf(buf + n, sizeof(buf) - n, "%s", in);          /* ok: boundary_funcs */
    memcpy(buf, GREETING, strlen(GREETING) + 1);           /* ok: boundary_funcs */
    return 0;
}

/* lengths that nobody limits, and lengths that somebody does */
static int parse(const u8 *data, size_t given, size_t total)
{
	u8 frame[128];
	u32 len = le32_to_cpu(*(__le32 *)data);
	u32 checked = le32_to_cpu(*(__le32 *)(data + 4));
	size_t least = min_t(size_t, given, sizeof(frame));

	memcpy(frame, data, len);                              /* ruleid: boundary_funcs */
	if (checked > sizeof(frame))
		return -EINVAL;
	memcpy(frame, data, checked);                          /* ok: boundary_funcs */
	memcpy(frame, data, least);                            /* ok: boundary_funcs */
	memcpy(frame, data,                                    /* ruleid: boundary_funcs */
	       /* as much as there is */ total);
	return 0;
}

static long ioctl_set(struct file *f, void __user *arg, size_t count)
{
	char kbuf[PAGE_SIZE];

	if (copy_from_user(kbuf, arg, count))                  /* ruleid: boundary_funcs */
		return -EFAULT;
	return 0;
}

/* strings */
void join(char *dst, const char *text)
{
    char line[80];
    char copy[80] = "";
    strncpy(line, text, strlen(text));                     /* ruleid: boundary_funcs */
    strncat(line, text, sizeof(line));                     /* ruleid: boundary_funcs */
    strncat(line, text, sizeof(line) - strlen(line));      /* ruleid: boundary_funcs */
    strncpy(dst, text, strlen(text) + 1);                  /* ruleid: boundary_funcs */
    strncat(line, text, sizeof(line) - strlen(line) - 1);  /* ok: boundary_funcs */
    strncat(copy, text, sizeof(copy) - 1);                 /* ok: boundary_funcs */
    strlcpy(line, text, sizeof(line));                     /* ok: boundary_funcs */
    list.memcpy(line, text, 4096);                         /* ok: boundary_funcs */
    // memcpy(line, text, 4096);                              ok: boundary_funcs
}

/* the byte behind a read that fills its buffer */
int receive(int fd, int other)
{
    char buf[512], rest[512];
    ssize_t n = read(fd, buf, sizeof(buf));                /* ruleid: boundary_funcs */
    if (n < 0)
        return -1;
    buf[n] = '\0';
    n = recv(other, rest, sizeof(rest) - 1, 0);            /* ok: boundary_funcs */
    if (n < 0)
        return -1;
    rest[n] = '\0';
    return recv(other, rest, 1024, 0);                     /* ruleid: boundary_funcs */
}

/* what a caller in this file passes */
static void fill(char *target, const char *from)
{
    memcpy(target, from, 100);                             /* ruleid: boundary_funcs */
}
static void fill_more(char *target, const char *from)
{
    memcpy(target, from, 100);                             /* ok: boundary_funcs */
}
void caller(const char *from)
{
    char small[50];
    char large[100];
    fill(small, from);
    fill_more(large, from);
}

/* one of two blocks may have run; what it points to is the smaller one in one of them */
void choose(int wanted, const char *from)
{
    char small[10], large[20];
    char *p = large;
    if (wanted)
        p = small;
    memcpy(p, from, 20);                                   /* ruleid: boundary_funcs */
    p = large;
    memcpy(p, from, 20);                                   /* ok: boundary_funcs */
}

/* C++ */
namespace net {
Packet::Packet(const char *payload, size_t size) : size_(size)
{
    char header[8];
    auto body = new char[32];
    std::unique_ptr<char[]> owned(new char[size]);
    std::memcpy(header, payload, 9);                       /* ruleid: boundary_funcs */
    memcpy(body, payload, 33);                             /* ruleid: boundary_funcs */
    std::memcpy(header, payload, sizeof header);           /* ok: boundary_funcs */
    memcpy(owned.get(), payload, size);                    /* ok: boundary_funcs */
    writer.memcpy(header, payload, 100);                   /* ok: boundary_funcs */
}
}

/* embedded */
static uint16_t samples[8];
void Uart_Receive(volatile uint8_t *port, uint8_t count)
{
    uint8_t frame[16];
    memset(samples, 0, 8 * sizeof(uint16_t));              /* ok: boundary_funcs */
    memset(samples, 0, 9 * sizeof(uint16_t));              /* ruleid: boundary_funcs */
    if (count <= sizeof(frame))
        memcpy(frame, (const void *)port, count);          /* ok: boundary_funcs */
}

/* A literal says how much is appended, a keyword is one of those that are passed, and a string stays in its buffer. */
static void keyword(struct out *out, const char *word)
{
    char card[40];
    int length = strlen(word);
    memcpy(card, word, length);                            /* ok: boundary_funcs */
    put(out, card);
}

void escape(struct out *out, const char *text, size_t n)
{
    char *more = calloc(6 * n + 1, 1);
    char few[4] = "";
    keyword(out, "NAXIS");
    keyword(out, "BITPIX");
    strncat(more, "&quot;", n);                            /* ok: boundary_funcs */
    strncat(few, "&quot;", n);                             /* ruleid: boundary_funcs */
}

static char typed[80];
static void trim(char *line)
{
    char *first = line;
    while (*first == ' ')
        first++;
    memmove(line, first, strlen(first) + 1);               /* ok: boundary_funcs */
}

void read_trimmed(void)
{
    trim(typed);
}

char *link_of(const char *path)
{
    int room = 0, got;
    char *text = NULL;
    do {
        room += 80;
        text = xrealloc(text, room);
        got = readlink(path, text, room);                  /* ok: boundary_funcs */
    } while (room < got + 1);
    text[got] = 0;
    return text;
}

/* `short` is a type, although it stands where a variable stands after its own type */
int read_port(unsigned char *request)
{
    unsigned short port;
    unsigned char head[4];

    memcpy(&port, request + 2, sizeof(short));             /* ok: boundary_funcs */
    memcpy(head + 2, &port, sizeof(short));                /* ok: boundary_funcs */
    memcpy(head + 3, &port, sizeof(short));                /* ruleid: boundary_funcs */
    return 0;
}

/* a term of a sum that is compared */
int write_scale(const char *width, const char *height)
{
    char text[64];
    size_t wide = strlen(width);
    size_t high = strlen(height);
    size_t total = wide + high + 2;

    if (total > 64)
        return -1;
    memcpy(text + 1, width, wide + 1);                     /* ok: boundary_funcs */
    return 0;
}

int write_scale_badly(const char *width, const char *height)
{
    char text[64];
    size_t wide = strlen(width);
    size_t high = strlen(height);
    size_t total = wide + high + 2;

    memcpy(text + 1, width, wide + 1);                     /* ruleid: boundary_funcs */
    return total;
}

void bind_to(const struct addrinfo *found)
{
    struct sockaddr_storage any;
    struct sockaddr_in four;

    memcpy(&any, found->ai_addr, found->ai_addrlen);       /* ok: boundary_funcs */
    memcpy(&four, found->ai_addr, found->ai_addrlen);      /* ruleid: boundary_funcs */
}
