/* The examples of the rules for C and C++: each ends at the next head. */

/* bad: alloc_size_overflow */
pixels = malloc(width * height * 4);

/* good: alloc_size_overflow */
if (__builtin_mul_overflow(width, height, &count))
    return NULL;
pixels = calloc(count, 4);

/* bad: alloca_unbounded */
char *copy = alloca(strlen(text) + 1);

/* good: alloca_unbounded */
char *copy = malloc(strlen(text) + 1);

/* bad: vla_usage */
void keep(const char *text, size_t len)
{
    char copy[len];
}

/* good: vla_usage */
char copy[LEN_MAX];
if (len > sizeof copy)
    return -1;

/* bad: boundary_funcs */
char name[32];
memcpy(name, text, strlen(text) + 1);

/* good: boundary_funcs */
size_t n = strlen(text) + 1;
if (n > sizeof name)
    return -1;
memcpy(name, text, n);

/* bad: weak_cipher */
EVP_EncryptInit_ex(ctx, EVP_des_cbc(), NULL, key, iv);

/* good: weak_cipher */
EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, iv);

/* bad: weak_hash */
EVP_DigestInit_ex(ctx, EVP_md5(), NULL);

/* good: weak_hash */
EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);

/* bad: command_execution */
snprintf(cmd, sizeof cmd, "ls %s", dir);
system(cmd);

/* good: command_execution */
char *const args[] = {"ls", "--", dir, NULL};
execv("/bin/ls", args);

/* bad: errno_unchecked */
port = strtol(optarg, NULL, 10);

/* good: errno_unchecked */
errno = 0;
port = strtol(optarg, &end, 10);
if (errno || end == optarg || *end)
    usage();

/* bad: unsafe_api */
char name[32];
strcpy(name, argv[1]);

/* good: unsafe_api */
snprintf(name, sizeof name, "%s", argv[1]);

/* bad: atoi_family */
size_t n = atoi(argv[1]);

/* good: atoi_family */
errno = 0;
long n = strtol(argv[1], &end, 10);
if (errno || *end || n < 0)
    usage();

/* bad: hardcoded_secret */
const char *db_password = "S3cure!pass9";

/* good: hardcoded_secret */
const char *db_password = getenv("DB_PASSWORD");

/* bad: strncpy_no_nul */
char name[16];
strncpy(name, text, sizeof name);
puts(name);

/* good: strncpy_no_nul */
strncpy(name, text, sizeof name - 1);
name[sizeof name - 1] = '\0';

/* bad: endless_loop */
for (size_t i = n - 1; i >= 0; i--)
    sum += list[i];

/* good: endless_loop */
for (size_t i = n; i-- > 0;)
    sum += list[i];

/* bad: getenv_unchecked */
char path[64];
strcpy(path, getenv("HOME"));

/* good: getenv_unchecked */
const char *home = getenv("HOME");
if (home && strlen(home) < sizeof path)
    strcpy(path, home);

/* bad: check_then_use */
if (access(path, W_OK) == 0)
    fd = open(path, O_WRONLY);

/* good: check_then_use */
fd = open(path, O_WRONLY | O_NOFOLLOW);
if (fd >= 0 && fstat(fd, &info) == 0)
    use(fd);

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

/* bad: flow_dangling_pointer */
int rename_host(struct host *host, const char *name)
{
    free(host->name);
    if (strlen(name) > 255)
        return -1;
    host->name = strdup(name);
    return host->name ? 0 : -1;
}

/* good: flow_dangling_pointer */
int rename_host(struct host *host, const char *name)
{
    free(host->name);
    host->name = NULL;
    if (strlen(name) > 255)
        return -1;
    host->name = strdup(name);
    return host->name ? 0 : -1;
}

/* bad: flow_endless_loop */
void options(const unsigned char *at, size_t left)
{
    while (left >= 2) {
        unsigned char length = at[1];
        if (length > left)
            return;
        option(at[0], at + 2);
        at += length;
        left -= length;
    }
}

/* good: flow_endless_loop */
void options(const unsigned char *at, size_t left)
{
    while (left >= 2) {
        unsigned char length = at[1];
        if (length < 2 || length > left)
            return;
        option(at[0], at + 2);
        at += length;
        left -= length;
    }
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

/* bad: scanf_no_width */
char word[16];
scanf("%s", word);

/* good: scanf_no_width */
scanf("%15s", word);

/* bad: format_string */
printf(message);

/* good: format_string */
printf("%s", message);

/* bad: uaf_suspect */
free(node);
count -= node->size;

/* good: uaf_suspect */
count -= node->size;
free(node);

/* bad: double_free_and_free_non_heap */
free(key);
if (failed)
    free(key);

/* good: double_free_and_free_non_heap */
free(key);
key = NULL;

/* bad: trojan_source */
/\
* checked above; *\
/ strcpy(name, argv[1]);

/* good: trojan_source */
/* checked above; */ strcpy(name, argv[1]);

/* bad: error_path_leak */
char *copy = strdup(text);
if (check(text) < 0)
    return -1;
free(copy);

/* good: error_path_leak */
char *copy = strdup(text);
if (check(text) < 0) {
    free(copy);
    return -1;
}

/* bad: deadlock_patterns */
pthread_mutex_lock(&lock);
if (n < 0)
    return -1;
pthread_mutex_unlock(&lock);

/* good: deadlock_patterns */
pthread_mutex_lock(&lock);
if (n < 0) {
    pthread_mutex_unlock(&lock);
    return -1;
}

/* bad: hardcoded_login */
mysql_real_connect(db, host, "app", "Wint3r!sun", "shop", 0, NULL, 0);

/* good: hardcoded_login */
mysql_real_connect(db, host, user, getenv("DB_PASSWORD"), "shop", 0, NULL, 0);

/* bad: malloc_free_mismatch */
char *s = new char[n];
free(s);

/* good: malloc_free_mismatch */
char *s = new char[n];
delete[] s;

/* bad: malloc_no_null_check */
char *s = malloc(n);
memcpy(s, text, n);

/* good: malloc_no_null_check */
char *s = malloc(n);
if (s == NULL)
    return -ENOMEM;
memcpy(s, text, n);

/* bad: possible_null_deref */
char *end = strchr(line, ':');
*end = 0;

/* good: possible_null_deref */
char *end = strchr(line, ':');
if (end)
    *end = 0;

/* bad: output_unchecked */
void save(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

/* good: output_unchecked */
int save(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (!f)
        return -1;
    fputs(text, f);
    return fclose(f) == 0 ? 0 : -1;
}

/* bad: result_checked_elsewhere */
void a(void)
{
    if (remove(head) != 0)
        fail();
}
void b(void)
{
    remove(tail);
}

/* good: result_checked_elsewhere */
void a(void)
{
    remove(head);
}
void b(void)
{
    remove(tail);
    remove(end);
}

/* bad: open_permissive_perms */
chmod("/var/lib/app/state", 0666);

/* good: open_permissive_perms */
fd = open("/var/lib/app/state", O_WRONLY | O_CREAT, 0600);

/* bad: sql_built */
snprintf(query, sizeof query, "SELECT id FROM user WHERE name = '%s'", name);

/* good: sql_built */
sqlite3_prepare_v2(db, "SELECT id FROM user WHERE name = ?", -1, &query, NULL);

/* bad: rand_insecure */
srand(time(NULL));
for (i = 0; i < 16; i++)
    session_key[i] = rand() & 0xff;

/* good: rand_insecure */
if (getrandom(session_key, 16, 0) != 16)
    return -1;

/* bad: realloc_assign_back */
p = realloc(p, n);

/* good: realloc_assign_back */
void *more = realloc(p, n);
if (more)
    p = more;

/* bad: strtok_nonreentrant */
for (w = strtok(line, " "); w; w = strtok(NULL, " "))
    key = strtok(w, "=");

/* good: strtok_nonreentrant */
for (w = strtok_r(line, " ", &at); w; w = strtok_r(NULL, " ", &at))
    key = strtok_r(w, "=", &in);

/* bad: time_apis_not_threadsafe */
struct tm *start = localtime(&a);
struct tm *end = localtime(&b);
show(start, end);

/* good: time_apis_not_threadsafe */
struct tm start, end;
localtime_r(&a, &start);
localtime_r(&b, &end);

/* bad: inet_legacy */
printf("%s -> %s\n", inet_ntoa(from), inet_ntoa(to));

/* good: inet_legacy */
char text[INET6_ADDRSTRLEN];
inet_ntop(AF_INET6, &from, text, sizeof text);

/* bad: unchecked_io */
setuid(user);
run(command);

/* good: unchecked_io */
if (setuid(user) != 0) {
    perror("setuid");
    exit(1);
}

/* bad: pthread_returns_unchecked */
pthread_create(&thread, NULL, run, job);

/* good: pthread_returns_unchecked */
int error = pthread_create(&thread, NULL, run, job);
if (error)
    fail("pthread_create", error);

/* bad: cin_no_width */
char name[16];
std::cin >> name;

/* good: cin_no_width */
std::string name;
std::cin >> name;

/* bad: insecure_tmpfile */
FILE *f = fopen(tmpnam(NULL), "w");

/* good: insecure_tmpfile */
int fd = mkstemp(template);

/* bad: predictable_tmpfile */
FILE *log = fopen("/tmp/server.log", "w");

/* good: predictable_tmpfile */
int fd = open("/tmp/server.lock", O_CREAT | O_EXCL | O_WRONLY, 0600);

/* bad: cond_wait_no_loop */
if (!ready)
    pthread_cond_wait(&cond, &lock);

/* good: cond_wait_no_loop */
while (!ready)
    pthread_cond_wait(&cond, &lock);

/* bad: thread_leak_no_join */
pthread_t thread;
pthread_create(&thread, NULL, run, job);
return 0;

/* good: thread_leak_no_join */
pthread_create(&thread, NULL, run, job);
pthread_detach(thread);

/* bad: uninitialized_ptr_use */
char *name;
strcpy(name, user);

/* good: uninitialized_ptr_use */
char name[64];
snprintf(name, sizeof name, "%s", user);

/* bad: wrong_result_check */
if (fgets(line, sizeof line, in) < 0)
    return -1;

/* good: wrong_result_check */
if (fgets(line, sizeof line, in) == NULL)
    return -1;

/* bad: unbounded_recursion */
static const char *parse_value(const char *text)
{
    if (*text == '[') {
        while (*++text != ']')
            text = parse_value(text);
    }
    return text + 1;
}

/* good: unbounded_recursion */
static const char *parse_value(const char *text, int depth)
{
    if (depth > 64)
        return NULL;
    if (*text == '[') {
        while (text && *++text != ']')
            text = parse_value(text, depth + 1);
    }
    return text ? text + 1 : NULL;
}

/* bad: snprintf_result */
int reply(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name);
    return write(fd, line, n);
}

/* good: snprintf_result */
int reply(int fd, const char *name)
{
    char line[64];
    int n = snprintf(line, sizeof line, "hello %s\n", name);
    if (n < 0 || (size_t)n >= sizeof line)
        return -1;
    return write(fd, line, n);
}

/* bad: format_arguments */
printf("%s: line %d\n", name);

/* good: format_arguments */
printf("%s: line %d\n", name, line);

/* bad: secret_compare */
if (memcmp(hmac, received, 32) != 0)
    return -1;

/* good: secret_compare */
if (CRYPTO_memcmp(hmac, received, 32) != 0)
    return -1;

/* bad: secret_logged */
fprintf(log, "login of %s with %s\n", user, password);

/* good: secret_logged */
fprintf(log, "login of %s\n", user);

/* bad: capacity_before_realloc */
int grow(struct list *l)
{
    l->capacity *= 2;
    int *items = realloc(l->items, l->capacity * sizeof *items);
    if (items == NULL)
        return -1;
    l->items = items;
    return 0;
}

/* good: capacity_before_realloc */
int grow(struct list *l)
{
    size_t capacity = l->capacity * 2;
    int *items = realloc(l->items, capacity * sizeof *items);
    if (items == NULL)
        return -1;
    l->items = items;
    l->capacity = capacity;
    return 0;
}

/* bad: sign_comparison */
int fill(int fd, char *to, size_t size)
{
    size_t n = read(fd, to, size);
    if (n < 0)
        return -1;
    return handle(to, n);
}

/* good: sign_comparison */
int fill(int fd, char *to, size_t size)
{
    ssize_t n = read(fd, to, size);
    if (n < 0)
        return -1;
    return handle(to, n);
}

/* bad: reachable_assertion */
void on_packet(int s)
{
    unsigned char packet[64];
    ssize_t n = recv(s, packet, sizeof packet, 0);
    assert(n >= 4);
    handle(packet, n);
}

/* good: reachable_assertion */
void on_packet(int s)
{
    unsigned char packet[64];
    ssize_t n = recv(s, packet, sizeof packet, 0);
    if (n < 4)
        return;
    handle(packet, n);
}

/* bad: unlimited_growth */
char *line_of(int s)
{
    size_t used = 0;
    char *line = NULL, c;
    while (recv(s, &c, 1, 0) == 1 && c != '\n') {
        char *more = realloc(line, used + 1);
        if (more == NULL)
            break;
        line = more;
        line[used++] = c;
    }
    return line;
}

/* good: unlimited_growth */
char *line_of(int s)
{
    size_t used = 0;
    char *line = NULL, c;
    while (used < LONGEST && recv(s, &c, 1, 0) == 1 && c != '\n') {
        char *more = realloc(line, used + 1);
        if (more == NULL)
            break;
        line = more;
        line[used++] = c;
    }
    return line;
}

/* bad: truncated_value */
void show(FILE *f)
{
    char c;
    while ((c = fgetc(f)) != EOF)
        putchar(c);
}

/* good: truncated_value */
void show(FILE *f)
{
    int c;
    while ((c = fgetc(f)) != EOF)
        putchar(c);
}

/* bad: scaled_twice */
void clear_rest(uint32_t *table, size_t used, size_t all)
{
    memset(table + used * sizeof(*table), 0, (all - used) * sizeof(*table));
}

/* good: scaled_twice */
void clear_rest(uint32_t *table, size_t used, size_t all)
{
    memset(table + used, 0, (all - used) * sizeof(*table));
}

/* bad: flow_untrusted_pointer */
int handle(FILE *in)
{
    uint64_t address;
    if (fread(&address, sizeof address, 1, in) != 1)
        return -1;
    struct item *item = (struct item *)(uintptr_t)address;
    return item->count;
}

/* good: flow_untrusted_pointer */
int handle(FILE *in, struct item *items, size_t count)
{
    uint64_t index;
    if (fread(&index, sizeof index, 1, in) != 1 || index >= count)
        return -1;
    return items[index].count;
}

/* bad: unlocked_access */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

void add_job(void)
{
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_mutex_unlock(&mutex);
}

void end_job(void)
{
    pthread_mutex_lock(&mutex);
    jobs--;
    pthread_mutex_unlock(&mutex);
}

void drop_jobs(void)
{
    jobs = 0;
}

/* good: unlocked_access */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

void add_job(void)
{
    pthread_mutex_lock(&mutex);
    jobs++;
    pthread_mutex_unlock(&mutex);
}

void drop_jobs(void)
{
    pthread_mutex_lock(&mutex);
    jobs = 0;
    pthread_mutex_unlock(&mutex);
}
