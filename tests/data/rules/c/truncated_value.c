size_t count_lines(FILE *f)
{
    char c;
    size_t lines = 0;
    while ((c = fgetc(f)) != EOF) /* ruleid: truncated_value */
        lines += c == '\n';
    return lines;
}

void skip_blanks(void)
{
    unsigned char next = getchar(); /* ruleid: truncated_value */
    while (next != EOF && isspace(next))
        next = getchar(); /* ruleid: truncated_value */
}

int first_of(FILE *in)
{
    signed char first;
    first = getc(in); /* ruleid: truncated_value */
    if (first == EOF)
        return -1;
    return first;
}

int read_token(FILE *in, char *to, size_t size)
{
    size_t n = 0;
    for (;;) {
        const char c = getc_unlocked(in); /* ruleid: truncated_value */
        if (c == -1 || n + 1 >= size)
            break;
        to[n++] = c;
    }
    to[n] = 0;
    return n;
}

void parse(int argc, char **argv)
{
    char option;
    while ((option = getopt(argc, argv, "hv")) != -1) /* ruleid: truncated_value */
        apply(option);
}

void parse_long(int argc, char **argv)
{
    uint8_t option;
    while ((option = getopt_long(argc, argv, "hv", options, NULL)) != EOF) /* ruleid: truncated_value */
        apply(option);
}

char *keep(const char *text)
{
    unsigned short length = strlen(text);
    char *copy = malloc(length + 1); /* ruleid: truncated_value */
    if (copy == NULL)
        return NULL;
    strcpy(copy, text);
    return copy;
}

struct message *message_of(const void *body, size_t size)
{
    uint16_t length = size;
    struct message *m = new_message();
    m->body = malloc(length); /* ruleid: truncated_value */
    if (m->body == NULL)
        return NULL;
    memcpy(m->body, body, size);
    return m;
}

int put_name(unsigned char *packet, const char *name)
{
    uint8_t length = (uint8_t)strlen(name);
    packet[0] = length;
    memcpy(packet + 1, name, length); /* ruleid: truncated_value */
    return length + 1;
}

void add(struct buffer *b, const void *from, size_t amount)
{
    short n = (short)amount;
    b->text = xrealloc(b->text, n + 1); /* ruleid: truncated_value */
    memcpy(b->text, from, amount);
}

size_t count_words(FILE *f)
{
    int c;
    size_t words = 0;
    while ((c = fgetc(f)) != EOF) /* ok: truncated_value */
        words += c == ' ';
    return words;
}

int next_byte(FILE *in)
{
    char c = getc(in); /* ok: truncated_value */
    if (feof(in))
        return -1;
    return c;
}

int read_byte(FILE *in, unsigned char *to)
{
    int c = getc(in); /* ok: truncated_value */
    unsigned char byte;
    if (c == EOF)
        return -1;
    byte = c;
    *to = byte;
    return 0;
}

int read_number(FILE *in)
{
    unsigned char digit;
    int c, sum = 0;
    while ((c = getc(in)) != EOF) { /* ok: truncated_value */
        digit = c - '0';
        sum = sum * 10 + digit;
    }
    return sum;
}

void options_of(int argc, char **argv)
{
    signed char option;
    while ((option = getopt(argc, argv, "hv")) != -1) /* ok: truncated_value */
        apply(option);
}

int answer(void)
{
    char key = getchar(); /* ok: truncated_value */
    return key == 'y' || key == 'Y';
}

char *keep_short(const char *text)
{
    unsigned short length;
    char *copy;
    if (strlen(text) > USHRT_MAX - 1)
        return NULL;
    length = strlen(text);
    copy = malloc(length + 1); /* ok: truncated_value */
    if (copy != NULL)
        memcpy(copy, text, length + 1);
    return copy;
}

int put_label(unsigned char *packet, const char *label, size_t size)
{
    uint8_t length;
    if (size > 63)
        return -1;
    length = size;
    *packet++ = length;
    memcpy(packet, label, length); /* ok: truncated_value */
    return 0;
}

int put_host(unsigned char *packet, const char *host)
{
    size_t length = strlen(host);
    uint8_t n;
    if (length > 255)
        return -1;
    n = (uint8_t)length;
    packet[0] = n;
    memcpy(packet + 1, host, n); /* ok: truncated_value */
    return 0;
}

void take_part(unsigned char *to, const unsigned char *from, size_t size)
{
    uint8_t part = size & 0x7f;
    memcpy(to, from, part); /* ok: truncated_value */
}

void put_field(unsigned char *to, const char *from)
{
    char field[16];
    uint8_t length;
    snprintf(field, sizeof field, "%.15s", from);
    length = strlen(field);
    memcpy(to, field, length); /* ok: truncated_value */
}

char *copy_of(const char *text)
{
    size_t length = strlen(text);
    char *copy = malloc(length + 1); /* ok: truncated_value */
    if (copy != NULL)
        memcpy(copy, text, length + 1); /* ok: truncated_value */
    return copy;
}

int take_record(struct reader *r, unsigned char *to)
{
    uint16_t length = get_u16(r);
    memcpy(to, r->at, length); /* ok: truncated_value */
    return length;
}
