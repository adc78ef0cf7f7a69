/* Linked into each program that is run for a proof: the options of the sanitizers, which the program finds neither in
 * its environment nor in its arguments, and the record of the arguments with which a harness calls the tree.
 * Compiled without sanitizers. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

extern void *__libc_stack_end;
extern int __asan_address_is_poisoned(void const volatile *address);
extern void *__asan_region_is_poisoned(void *start, unsigned long size);
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *, unsigned long), void (*on_free)(const volatile void *));

#define RECORDS_MAX 10000
static const char variable[] = "JARVIS_PROOF=";
static char texts[4][4096];
static int count;

/* The value is "RECORDS|OPTIONS OF ASAN|OPTIONS OF UBSAN|SECONDS"; it is erased when it has been read.  libc is not
 * initialized yet. */
static const char *text_at(int number)
{
    char **next = (char **)__libc_stack_end + *(long *)__libc_stack_end + 2;
    if (texts[1][0])
        return texts[number];
    for (; *next; next++) {
        char *from = *next;
        unsigned at = 0, text = 0, length = 0;
        while (variable[at] && from[at] == variable[at])
            at++;
        if (variable[at])
            continue;
        for (from += at; *from; from++) {
            if (*from == '|') {
                text++;
                length = 0;
            } else if (text < 4 && length < sizeof texts[0] - 1) {
                texts[text][length++] = *from;
            }
            *from = 0;
        }
        return texts[number];
    }
    return "detect_leaks=0";
}

const char *__asan_default_options(void) { return text_at(1); }
const char *__ubsan_default_options(void) { return text_at(2); }

/* After so many seconds of CPU time the program hangs: a write to this address, which sanitizer_log.py knows, has
 * AddressSanitizer end it with the stack.  Each call of a harness into the tree has the time anew, and each process that
 * the program forks, which inherits no timer. */
#define HANG_ADDRESS 0x7a11
static void on_time(int number)
{
    (void)number;
    *(volatile char *)HANG_ADDRESS = 0;
}

static void start_time(void)
{
    struct itimerval time = {{0, 0}, {0, 0}};
    for (const char *digit = text_at(3); *digit >= '0' && *digit <= '9'; digit++)
        time.it_value.tv_sec = 10 * time.it_value.tv_sec + (*digit - '0');
    setitimer(ITIMER_PROF, &time, 0);
}

__attribute__((constructor)) static void watch_time(void)
{
    signal(SIGPROF, on_time);
    pthread_atfork(0, 0, start_time);
    start_time();
}

static char *add(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *add_number(char *to, unsigned long number)
{
    char digits[24];
    int at = 0;
    do
        digits[at++] = '0' + number % 10;
    while (number /= 10);
    while (at)
        *to++ = digits[--at];
    return to;
}

static void record(const char *function, int number, const char *fault, unsigned long start, unsigned long end)
{
    char line[512], *to = line;
    unsigned length = 0;
    int file;
    while (function[length])
        length++;
    if (length > 300 || count++ > RECORDS_MAX)
        return;
    to = add(to, function);
    *to++ = ' ';
    to = add_number(to, number);
    *to++ = ' ';
    to = add(to, fault);
    *to++ = ' ';
    to = add_number(to, start);
    *to++ = ' ';
    to = add_number(to, end);
    *to++ = '\n';
    file = open(texts[0], O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
        if (write(file, line, to - line) < 0)
            count = RECORDS_MAX;
        close(file);
    }
}

void jarvis_handle(const char *function, int number, const void *pointer)
{
    unsigned long start = (unsigned long)pointer;
    if (!pointer)
        record(function, number, "null", 0, 0);
    else if (start > 1 && __asan_address_is_poisoned(pointer))
        record(function, number, "invalid", start, start);
}

void jarvis_memory(const char *function, int number, const void *pointer, unsigned long size)
{
    unsigned long start = (unsigned long)pointer;
    if (!pointer) {
        if (size)
            record(function, number, "null", 0, 0);
    } else if (size > 1UL << 40 || (size && __asan_region_is_poisoned((void *)pointer, size))) {
        record(function, number, "invalid", start, start + size);
    } else {
        record(function, number, "valid", start, start + size);
    }
}

void jarvis_string(const char *function, int number, const char *text)
{
    const char *end = text;
    if (!text) {
        record(function, number, "null", 0, 0);
        return;
    }
    while (!__asan_address_is_poisoned(end) && *end)
        end++;
    if (__asan_address_is_poisoned(end))
        record(function, number, "invalid", (unsigned long)text, (unsigned long)end);
    else
        record(function, number, "valid", (unsigned long)text, (unsigned long)end + 1);
}

/* The memory that the tree allocates while a harness calls it.  A harness must not change it between two calls: its sums
 * after a call are compared before the next one. */
#define BLOCKS_MAX 8192
#define HEADS 4096
#define SUMMED_MAX (256UL << 20)
static struct block {
    const unsigned char *start;
    unsigned long size, sum;
    int next;
} blocks[BLOCKS_MAX];
static int heads[HEADS], unused, used, depth, is_hooked, is_full;
static unsigned long summed;

static int *head_of(const void *start)
{
    return &heads[((unsigned long)start >> 4) % HEADS];
}

static void on_malloc(const volatile void *start, unsigned long size)
{
    int number = unused ? unused : used + 1, *head = head_of((const void *)start);
    if (!depth || !start)
        return;
    if (number >= BLOCKS_MAX) {
        is_full = 1;
        return;
    }
    if (unused)
        unused = blocks[number].next;
    else
        used = number;
    blocks[number] = (struct block){(const unsigned char *)start, size, 0, *head};
    *head = number;
}

static void on_free(const volatile void *start)
{
    for (int *link = head_of((const void *)start); *link; link = &blocks[*link].next) {
        int number = *link;
        if (blocks[number].start == start) {
            *link = blocks[number].next;
            blocks[number].start = 0;
            blocks[number].next = unused;
            unused = number;
            return;
        }
    }
}

static unsigned long sum_of(const struct block *block)
{
    unsigned long sum = 14695981039346656037UL; /* FNV-1a */
    summed += block->size;
    for (unsigned long at = 0; at < block->size; at++)
        sum = (sum ^ block->start[at]) * 1099511628211UL;
    return sum;
}

void jarvis_enter(const char *function)
{
    if (!is_hooked)
        is_hooked = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) ? 1 : 2;
    for (int number = 1; !depth && number <= used && summed < SUMMED_MAX; number++)
        if (blocks[number].start && blocks[number].sum != sum_of(&blocks[number])) {
            record(function, 0, "changed", 0, 0);
            break;
        }
    if (is_hooked == 2 || is_full || summed >= SUMMED_MAX)
        record(function, 0, "unchecked", 0, 0);
    if (!depth++)
        start_time();
}

void jarvis_leave(void)
{
    if (--depth)
        return;
    for (int number = 1; number <= used && summed < SUMMED_MAX; number++)
        if (blocks[number].start)
            blocks[number].sum = sum_of(&blocks[number]);
}

/* The functions of a harness that write, or set where files are read to: they do nothing. */
#define SILENT(name) \
    int jarvis_silent_##name(void) { return 0; }
SILENT(printf) SILENT(fprintf) SILENT(puts) SILENT(fputs) SILENT(putchar) SILENT(fputc) SILENT(putc)
SILENT(fwrite) SILENT(perror) SILENT(fflush) SILENT(vprintf) SILENT(vfprintf) SILENT(setvbuf) SILENT(setbuf)
