static const char *parse_value(const char *text) /* ruleid: unbounded_recursion */
{
    if (*text == '[') {
        while (*++text != ']')
            text = parse_value(text);
    }
    return text + 1;
}

static int decode_group(struct reader *r, struct message *m) { /* ruleid: unbounded_recursion */
    int tag;
    while ((tag = next_tag(r)) != END_GROUP) {
        if (tag == START_GROUP && decode_group(r, m->child) < 0)
            return -1;
    }
    return 0;
}

/* through another function */
static json *parse_array(struct parser *p);
static json *parse_node(struct parser *p) /* ruleid: unbounded_recursion */
{
    if (peek(p) == '[')
        return parse_array(p);
    return parse_word(p);
}

static json *parse_array(struct parser *p)
{
    json *array = new_array();
    while (!at_end(p))
        append(array, parse_node(p));
    return array;
}

/* through two others, with names of a grammar */
double expr(lexer *s);
double base(lexer *s) /* ruleid: unbounded_recursion */
{
    if (s->type == '(') {
        next(s);
        return expr(s);
    }
    return number(s);
}

double factor(lexer *s)
{
    return base(s) * base(s);
}

double expr(lexer *s)
{
    return factor(s) + factor(s);
}

static void
read_box (FILE *f, uint64_t end) /* ruleid: unbounded_recursion */
{
  while (ftell (f) < end)
    {
      uint64_t size = read_size (f);
      read_box (f, ftell (f) + size);
    }
}

int match_here(const char *pattern, const char *text) { /* ruleid: unbounded_recursion */
    if (*pattern == '*') {
        while (*text)
            if (match_here(pattern + 1, text++))
                return 1;
    }
    return *pattern == *text && match_here(pattern + 1, text + 1);
}

bool Reader::skipValue(Token &token) /* ruleid: unbounded_recursion */
{
    while (readToken(token)) {
        if (token.type == ARRAY && !skipValue(token))
            return false;
    }
    return true;
}

static unsigned char *skip_element(unsigned char *der, unsigned char *end) { /* ruleid: unbounded_recursion */
    while (der < end && is_constructed(*der))
        der = skip_element(der + 2, der + 2 + der[1]);
    return der;
}

/* a counter in a parameter */
static const char *parse_item(const char *text, int depth) /* ok: unbounded_recursion */
{
    if (depth > 64)
        return NULL;
    while (*++text != ']')
        text = parse_item(text, depth + 1);
    return text;
}

/* a counter in the parser, tested by another function of the cycle */
static json *parse_list(struct parser *p);
static json *parse_any(struct parser *p) /* ok: unbounded_recursion */
{
    return peek(p) == '[' ? parse_list(p) : parse_word(p);
}

static json *parse_list(struct parser *p)
{
    json *list = new_array();
    if (p->nesting++ > MOST)
        return NULL;
    while (!at_end(p))
        append(list, parse_any(p));
    p->nesting--;
    return list;
}

/* a number that counts down */
static int expand_times(const char *text, int times) /* ok: unbounded_recursion */
{
    if (times == 0)
        return 0;
    put(text);
    return 1 + expand_times(text, times - 1);
}

/* halves */
static int scan_half(const char *text, size_t n) { /* ok: unbounded_recursion */
    if (n < 2)
        return 0;
    return 1 + scan_half(text, n / 2);
}

/* a tail call, which compilers make a loop */
static int read_line(struct reader *r, char *buf) /* ok: unbounded_recursion */
{
    if (is_comment(r))
        return read_line(r, buf);
    return take(r, buf);
}

/* trees that were built elsewhere */
static void print_value(FILE *f, struct json *value) /* ok: unbounded_recursion */
{
    for (struct json *child = value->child; child; child = child->next)
        print_value(f, child);
}

static void free_value(struct json *value, struct parser *p) { /* ok: unbounded_recursion */
    if (value->child)
        free_value(value->child, p);
    free(value);
}

/* no recursion: another object's method, a comment, a text, a declaration */
static int parse_all(struct parser *p) /* ok: unbounded_recursion */
{
    /* parse_all() reads all */
    log("parse_all(): start");
    return p->methods->parse_all(p);
}

/* not in the seed of a stack that is checked */
static int compile_expr(struct compiler *c, const char *text) /* ok: unbounded_recursion */
{
    if (stack_limit_reached(c))
        return -1;
    return emit(c, compile_expr(c, skip(text)));
}

static void enter(struct reader *in)
{
    if (++in->depth <= in->limits->depth)
        return;
    give_up(in, "too many levels");
}

static void read_table(struct reader *in, const char *text) /* ok: unbounded_recursion */
{
    enter(in);
    while (in->token != '}') {
        read_key(in, text);
        if (in->token == '{')
            read_table(in, text);
    }
    leave(in);
}

static void note_start(struct reader *in)
{
    in->started = time(NULL);
    in->depth++;
}

static void read_list(struct reader *in, const char *text) /* ruleid: unbounded_recursion */
{
    note_start(in);
    while (in->token != ']') {
        read_key(in, text);
        if (in->token == '[')
            read_list(in, text);
    }
    leave(in);
}

/* Writes the tree that a parser with a limit has built. */
static void emit_value(struct buffer *out, const struct node *node) /* ok: unbounded_recursion */
{
    for (const struct node *one = node->first; one; one = one->next)
        emit_value(out, one);
    append(out, node->text);
}
