#define ROWS 4
enum { columns = 8 };
struct table { int cells[16]; int width; };
static const int limit = 32;

int local(int n, struct table *t, const char *name)
{
    char a[n];                                             /* ruleid: vla_usage */
    int b[n + 1], *c[n];                                   /* ruleid: vla_usage */
    struct table d[t->width];                              /* ruleid: vla_usage */
    char e[strlen(name) + 1];                              /* ruleid: vla_usage */
    double f[ROWS][n];                                     /* ruleid: vla_usage */
    size_t count = ntohs(t->width);
    const uint8_t
        g[count];                                          /* ruleid: vla_usage */
    char h[64];                                            /* ok: vla_usage */
    char i[ROWS * 2];                                      /* ok: vla_usage */
    char j[columns];                                       /* ok: vla_usage */
    char k[sizeof(struct table)];                          /* ok: vla_usage */
    char l[sizeof t->cells];                               /* ok: vla_usage */
    char m[limit];                                         /* ok: vla_usage */
    static const size_t fixed = 4;
    char o[fixed];                                         /* ok: vla_usage */
    a[0] = b[n];                                           /* ok: vla_usage */
    delete c[n];                                           /* ok: vla_usage */
    int *p = new int[n];                                   /* ok: vla_usage */
    if (n) return b[n];                                    /* ok: vla_usage */
    else c[n];                                             /* ok: vla_usage */
    return sum(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p);
}

struct holder { char bytes[sizeof(struct table)]; };       /* ok: vla_usage */
int sum_of(int n, int values[n]);                          /* ok: vla_usage */

/* kernel */
static int read_tag(struct device *dev, unsigned int words)
{
	u32 reply[words];                                      /* ruleid: vla_usage */
	char tag[sizeof_field(struct config, tag)];            /* ok: vla_usage */
	DECLARE_BITMAP(mask, words);                           /* ok: vla_usage */
	const size_t given = ARRAY_SIZE(dev->tags);
	u8 copy[given];                                        /* ok: vla_usage */
	return send(dev, reply, tag, mask, copy);
}

/* C++ */
template <typename T, size_t count>
class Ring {
    void drain()
    {
        T copy[count];                                     /* ok: vla_usage */
        constexpr int twice = 2 * 8;
        uint16_t samples[twice];                           /* ok: vla_usage */
        std::array<T, count> other;                        /* ok: vla_usage */
        uint8_t frame[this->length()];                     /* ruleid: vla_usage */
        use(copy, samples, other, frame);
    }
};

void copy_marked(char *to, const char *from, int i)
{
    switch (from[i]) {
    case ' ':
    default:
        to[i] = from[i];                                   /* ok: vla_usage */
    }
}
