/* The examples of the flow rules: each ends at the next head. */

/* bad: flow_null_dereference */
int count_of(struct list *p)
{
    if (p == NULL)
        report_missing();
    return p->count;
}

/* good: flow_null_dereference */
int count_of(struct list *p)
{
    if (p == NULL)
        return 0;
    return p->count;
}

/* bad: flow_unchecked_null */
char *blank(size_t n)
{
    char *p = malloc(n);
    p[0] = ' ';
    return p;
}

/* good: flow_unchecked_null */
char *blank(size_t n)
{
    char *p = malloc(n);
    if (p != NULL)
        p[0] = ' ';
    return p;
}

/* bad: flow_use_after_free */
struct node *drop(struct node *node)
{
    free(node);
    return node->next;
}

/* good: flow_use_after_free */
struct node *drop(struct node *node)
{
    struct node *next = node->next;
    free(node);
    return next;
}

/* bad: flow_double_free */
void end(char *text, int failed)
{
    if (failed)
        free(text);
    free(text);
}

/* good: flow_double_free */
void end(char *text, int failed)
{
    if (failed) {
        free(text);
        text = NULL;
    }
    free(text);
}

/* bad: flow_bad_free */
void name_it(void)
{
    char name[16];
    char *p = name;
    free(p);
}

/* good: flow_bad_free */
void name_it(void)
{
    char *p = malloc(16);
    free(p);
}

/* bad: flow_offset_free */
void skip(const char *from)
{
    char *p = strdup(from);
    if (p == NULL)
        return;
    p++;
    puts(p);
    free(p);
}

/* good: flow_offset_free */
void skip(const char *from)
{
    char *p = strdup(from);
    if (p == NULL)
        return;
    puts(p + 1);
    free(p);
}

/* bad: flow_mismatched_free */
void f()
{
    int *p = new int[8];
    free(p);
}

/* good: flow_mismatched_free */
void f()
{
    int *p = new int[8];
    delete[] p;
}

/* bad: flow_memory_leak */
int copy(size_t n, size_t limit)
{
    char *p = malloc(n);
    if (p == NULL || n > limit)
        return -1;
    free(p);
    return 0;
}

/* good: flow_memory_leak */
int copy(size_t n, size_t limit)
{
    char *p = malloc(n);
    if (p == NULL)
        return -1;
    free(p);
    return 0;
}

/* bad: flow_handle_leak */
int first(const char *name, int wanted)
{
    FILE *f = fopen(name, "r");
    if (f == NULL || !wanted)
        return -1;
    fclose(f);
    return 0;
}

/* good: flow_handle_leak */
int first(const char *name)
{
    FILE *f = fopen(name, "r");
    if (f == NULL)
        return -1;
    fclose(f);
    return 0;
}

/* bad: flow_uninitialized */
int size_of(int known)
{
    int size;
    if (known)
        size = 4;
    return size * 2;
}

/* good: flow_uninitialized */
int size_of(int known)
{
    int size = 0;
    if (known)
        size = 4;
    return size * 2;
}

/* bad: flow_buffer_overflow */
void name_it(void)
{
    char name[8];
    strcpy(name, "too long for it");
    puts(name);
}

/* good: flow_buffer_overflow */
void name_it(void)
{
    char name[16];
    strcpy(name, "fits well");
    puts(name);
}

/* bad: flow_buffer_underwrite */
void mark(void)
{
    char buffer[16];
    char *p = buffer - 4;
    p[0] = 1;
}

/* good: flow_buffer_underwrite */
void mark(void)
{
    char buffer[16];
    char *p = buffer;
    p[0] = 1;
}

/* bad: flow_buffer_overread */
int sum_of(void)
{
    static int table[4] = {1, 2, 3, 4};
    int sum = 0;
    for (int i = 0; i <= 4; i++)
        sum += table[i];
    return sum;
}

/* good: flow_buffer_overread */
int sum_of(void)
{
    static int table[4] = {1, 2, 3, 4};
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += table[i];
    return sum;
}

/* bad: flow_buffer_underread */
int pick(const char *text)
{
    static int table[8] = {1};
    int index = 0;
    if (sscanf(text, "%d", &index) != 1)
        scanf("%d", &index);
    if (index < 8)
        return table[index];
    return 0;
}

/* good: flow_buffer_underread */
int pick(const char *text)
{
    static int table[8] = {1};
    int index = 0;
    if (sscanf(text, "%d", &index) != 1)
        scanf("%d", &index);
    if (index >= 0 && index < 8)
        return table[index];
    return 0;
}

/* bad: flow_integer_overflow */
int area(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return n * 16;
}

/* good: flow_integer_overflow */
int area(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n < 0 || n > 1000)
        return 0;
    return n * 16;
}

/* bad: flow_integer_underflow */
int left(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return n - 1;
}

/* good: flow_integer_underflow */
int left(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n < 1 || n > 1000)
        return 0;
    return n - 1;
}

/* bad: flow_tainted_size */
char *room(void)
{
    size_t n = 0;
    if (scanf("%zu", &n) != 1)
        return NULL;
    return malloc(n);
}

/* good: flow_tainted_size */
char *room(void)
{
    size_t n = 0;
    if (scanf("%zu", &n) != 1 || n > 4096)
        return NULL;
    return malloc(n);
}

/* bad: flow_tainted_length */
void take(int s, const char *packet, char *out)
{
    int n = 0;
    recv(s, &n, sizeof n, 0);
    memcpy(out, packet, n);
}

/* good: flow_tainted_length */
void take(int s, const char *packet, char *out)
{
    int n = 0;
    recv(s, &n, sizeof n, 0);
    if (n < 0 || n > 64)
        return;
    memcpy(out, packet, n);
}

/* bad: flow_command_injection */
void list(void)
{
    char name[64], line[128];
    if (fgets(name, sizeof name, stdin) == NULL)
        return;
    snprintf(line, sizeof line, "ls %s", name);
    system(line);
}

/* good: flow_command_injection */
void list(void)
{
    char line[128];
    snprintf(line, sizeof line, "ls %s", "/var/log");
    system(line);
}

/* bad: flow_path_traversal */
FILE *pick(int s)
{
    char name[64];
    recv(s, name, sizeof name, 0);
    return fopen(name, "r");
}

/* good: flow_path_traversal */
FILE *pick(void)
{
    char name[64];
    strcpy(name, "/etc/app.conf");
    return fopen(name, "r");
}

/* bad: flow_format_string */
void echo(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) != NULL)
        printf(line);
}

/* good: flow_format_string */
void echo(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) != NULL)
        printf("%s", line);
}

/* bad: flow_sql_injection */
void drop(struct sqlite3 *db)
{
    char q[128];
    const char *key = getenv("KEY");
    if (key == NULL)
        return;
    snprintf(q, sizeof q, "DELETE FROM t WHERE k='%s'", key);
    sqlite3_exec(db, q, 0, 0, 0);
}

/* good: flow_sql_injection */
void drop(struct sqlite3 *db)
{
    sqlite3_exec(db, "DELETE FROM t", 0, 0, 0);
}

/* bad: flow_divide_by_zero */
int share(int total)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return total / n;
}

/* good: flow_divide_by_zero */
int share(int total)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n == 0)
        return 0;
    return total / n;
}

/* bad: flow_stack_address */
char *name_of(void)
{
    char name[16];
    strcpy(name, "abc");
    return name;
}

/* good: flow_stack_address */
char *name_of(void)
{
    static char name[16];
    strcpy(name, "abc");
    return name;
}
