/* Linked into each program that is run for a proof: the options of the sanitizers, which the program finds neither in
 * its environment nor in its arguments, and the record of the arguments with which a harness calls the tree.
 * Compiled without sanitizers. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

extern void *__libc_stack_end;
extern int __asan_address_is_poisoned(void const volatile *address);
extern void *__asan_region_is_poisoned(void *start, unsigned long size);
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *, unsigned long), void (*on_free)(const volatile void *));

#define RECORDS_MAX 10000
static const char variable[] = "JARVIS_PROOF=";
static char texts[5][4096];
static int counts[32]; /* by the first letter of a fault, so that no kind takes the room of another */

/* The value is "RECORDS|OPTIONS OF ASAN|OPTIONS OF UBSAN|MEGABYTES|SECONDS"; it is erased when it has been read.  libc is not
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
            } else if (text < 5 && length < sizeof texts[0] - 1) {
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
#define PATIENCE 50000
static volatile int is_due;
static void hang(void)
{
    *(volatile char *)HANG_ADDRESS = 0;
}

/* AddressSanitizer has no stack of a program that is stopped while it takes that of an allocation: the program ends at
 * its next allocation or release, or after so many microseconds without one. */
static void on_time(int number)
{
    struct itimerval time = {{0, 0}, {0, PATIENCE}};
    (void)number;
    if (is_due++)
        hang();
    setitimer(ITIMER_PROF, &time, 0);
}

static unsigned long number_at(int number)
{
    unsigned long value = 0;
    for (const char *digit = text_at(number); *digit >= '0' && *digit <= '9'; digit++)
        value = 10 * value + (*digit - '0');
    return value;
}

static void end_after(unsigned long seconds) /* 0 for any number */
{
    struct itimerval time = {{0, 0}, {seconds, 0}};
    is_due = 0;
    setitimer(ITIMER_PROF, &time, 0);
}

static void start_time(void)
{
    end_after(number_at(4));
}

/* A program that holds so many megabytes on the heap is stopped in the same way, at the next allocation.  Each call of a
 * harness into the tree may add as many, if the harness itself holds little. */
#define GROWTH_ADDRESS 0x7a22
#define OWN_HEAP_MAX (1UL << 20)
#define OWN_INPUT_MAX (128UL << 10)
extern unsigned long __sanitizer_get_current_allocated_bytes(void);
extern const int jarvis_has_harness __attribute__((weak));
static unsigned long growth_most; /* bytes, 0 for any number */
/* The sum is taken after so many bytes, each allocation with what AddressSanitizer adds. */
#define UNCHECKED_BYTES (1UL << 20)
#define ADDED_BYTES 32
static void check_growth(unsigned long size)
{
    static unsigned long unchecked;
    if (!growth_most || (unchecked += size + ADDED_BYTES) < UNCHECKED_BYTES)
        return;
    unchecked = 0;
    if (__sanitizer_get_current_allocated_bytes() > growth_most)
        *(volatile char *)GROWTH_ADDRESS = 0;
}

static void on_fault(int number, siginfo_t *fault, void *context);
static struct sigaction sanitizer;
static void on_malloc(const volatile void *start, unsigned long size);
static void on_free(const volatile void *start);
static int is_hooked;
__attribute__((constructor)) static void watch_time(void)
{
    struct sigaction own = {0};
    own.sa_sigaction = on_fault;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &own, &sanitizer);
    is_hooked = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) ? 1 : 2;
    if (!&jarvis_has_harness)
        growth_most = number_at(3) << 20;
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

/* The stack of a program that has used all of it: AddressSanitizer has none if that happens while it takes the stack of an
 * allocation, and never its beginning. The frames are followed by their pointers, and written as it writes them. */
#define INNERMOST 160
#define OUTERMOST 64
#define LINKS_LEAST 100
#define NEAR_STACK (1L << 16)
#define SCANNED_MAX (1L << 16)
#define PAGE 4096UL
#define PAGES_MAX 2048
#define FRAME_MAX (1UL << 20)
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

static unsigned long next_frame(unsigned long frame)
{
    unsigned long next = *(unsigned long *)frame, end = (unsigned long)__libc_stack_end - 16;
    if (next <= frame || next - frame > FRAME_MAX || next >= end || next % 16)
        return 0;
    return ((unsigned long *)frame)[1] > PAGE ? next : 0;
}

static unsigned long links_from(unsigned long frame, unsigned long most)
{
    unsigned long links = 0;
    while (links < most && (frame = next_frame(frame)))
        links++;
    return links;
}

static void write_frame(int file, unsigned long address)
{
    char line[64], *to = add(line, "    #0 0x0  (program+0x");
    /* A program that may lie anywhere is resolved from its beginning; e_type 2 is ET_EXEC. */
    unsigned long at = ((const unsigned char *)__ehdr_start)[16] == 2 ? address : address - (unsigned long)__ehdr_start;
    for (int shift = 60; shift >= 0; shift -= 4)
        *to++ = "0123456789abcdef"[at >> shift & 15];
    to = add(to, ")\n");
    if (write(file, line, to - line) < 0)
        close(file);
}

static void write_stack(unsigned long pc, unsigned long stack, unsigned long frame)
{
    char path[sizeof texts[0] + 16], *to = add(add(path, texts[0]), ".stack");
    unsigned long end = (unsigned long)__libc_stack_end - 16, from = (stack | (PAGE - 1)) + 1, links, at = 0, pages = 0;
    int file;
    *to = 0;
    if (!texts[0][0])
        return;
    /* The frame that did not fit may have begun below what is mapped. */
    while (pages < PAGES_MAX && access((const char *)from, F_OK) && errno == EFAULT)
        from += PAGE, pages++;
    if (from >= end || pages >= PAGES_MAX)
        return;
    if (frame < from || frame >= end || frame % 16 || links_from(frame, LINKS_LEAST) < LINKS_LEAST)
        for (frame = from; links_from(frame, LINKS_LEAST) < LINKS_LEAST; frame += 16)
            if (frame + 32 >= end || frame - from > SCANNED_MAX)
                return;
    links = links_from(frame, -1UL);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return;
    write_frame(file, pc);
    for (; frame; frame = next_frame(frame), at++)
        if (at < INNERMOST || at + OUTERMOST > links)
            write_frame(file, ((unsigned long *)frame)[1] - 1);
    close(file);
}

static void on_fault(int number, siginfo_t *fault, void *context)
{
    const mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    unsigned long pc = registers->gregs[REG_RIP], stack = registers->gregs[REG_RSP], frame = registers->gregs[REG_RBP];
#elif defined(__aarch64__)
    unsigned long pc = registers->pc, stack = registers->sp, frame = registers->regs[29];
#else
    unsigned long pc = 0, stack = 0, frame = 0;
#endif
    long distance = (long)(unsigned long)fault->si_addr - (long)stack;
    if (pc && distance > -NEAR_STACK && distance < NEAR_STACK)
        write_stack(pc, (unsigned long)fault->si_addr > stack ? (unsigned long)fault->si_addr : stack, frame);
    if (sanitizer.sa_flags & SA_SIGINFO)
        sanitizer.sa_sigaction(number, fault, context);
    else
        signal(number, SIG_DFL);
}

static void record(const char *function, int number, const char *fault, unsigned long start, unsigned long end)
{
    char line[512], *to = line;
    unsigned length = 0;
    int file;
    while (function[length])
        length++;
    if (length > 300 || counts[fault[0] & 31]++ > RECORDS_MAX)
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
            counts[fault[0] & 31] = RECORDS_MAX;
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

/* A harness that takes this much of the stack itself, or has recursed, leaves less for the tree than callers do. */
#define DEEP (256L << 10)

/* The memory that the tree allocates while a harness calls it.  A harness must not change it between two calls: its sums
 * after a call are compared before the next one. */
#define BLOCKS_MAX (1 << 20)
#define HEADS (1 << 16)
#define SUMMED_MAX (1UL << 30)
#define COST_OF_A_BLOCK 64
static struct block {
    const unsigned char *start;
    unsigned long size, sum;
    int next;
} blocks[BLOCKS_MAX];
static int heads[HEADS], unused, used, depth, is_full;
static unsigned long of_tree; /* bytes */
static unsigned long summed;

static int *head_of(const void *start)
{
    return &heads[((unsigned long)start >> 4) % HEADS];
}

static void on_malloc(const volatile void *start, unsigned long size)
{
    int number = unused ? unused : used + 1, *head = head_of((const void *)start);
    if (is_due)
        hang();
    check_growth(size);
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
    of_tree += size;
    *head = number;
}

static void on_free(const volatile void *start)
{
    if (is_due)
        hang();
    for (int *link = head_of((const void *)start); *link; link = &blocks[*link].next) {
        int number = *link;
        if (blocks[number].start == start) {
            *link = blocks[number].next;
            blocks[number].start = 0;
            of_tree -= blocks[number].size;
            blocks[number].next = unused;
            unused = number;
            return;
        }
    }
}

static unsigned long sum_of(const struct block *block)
{
    unsigned long sum = 14695981039346656037UL, at = 0; /* FNV-1a, of words as far as there are any */
    summed += block->size + COST_OF_A_BLOCK;
    for (; at + 8 <= block->size; at += 8)
        sum = (sum ^ *(const unsigned long *)(block->start + at)) * 1099511628211UL, sum ^= sum >> 32;
    for (; at < block->size; at++)
        sum = (sum ^ block->start[at]) * 1099511628211UL;
    return sum;
}

/* The harness may hold data of its own beside these tables, as well. */
#define OWN_DATA_MAX (sizeof blocks + sizeof heads + (12UL << 20))
extern char __data_start[] __attribute__((weak)), _end[] __attribute__((weak));
static void start_growth(int has_little)
{
    unsigned long held = __sanitizer_get_current_allocated_bytes(), most = number_at(3) << 20;
    growth_most = most && has_little ? held + most : 0;
}

static int is_small(unsigned long most)
{
    unsigned long held = __sanitizer_get_current_allocated_bytes();
    return (held < of_tree || held - of_tree < most) && (unsigned long)(_end - __data_start) < OWN_DATA_MAX;
}

void jarvis_enter(const char *function)
{
    for (int number = 1; !depth && number <= used && (summed += 8) < SUMMED_MAX; number++)
        if (blocks[number].start && blocks[number].sum != sum_of(&blocks[number])) {
            record(function, 0, "changed", 0, 0);
            break;
        }
    if (!depth && (char *)__libc_stack_end - (char *)__builtin_frame_address(0) > DEEP)
        record(function, 0, "deep", 0, 0);
    if (is_hooked == 2 || is_full || summed >= SUMMED_MAX)
        record(function, 0, "unchecked", 0, 0);
    if (!depth++) {
        /* A call that is given much may only take long. */
        end_after(is_small(OWN_INPUT_MAX) ? number_at(4) : 0);
        start_growth(is_small(OWN_HEAP_MAX));
    }
}

void jarvis_leave(void)
{
    if (--depth)
        return;
    growth_most = 0;
    for (int number = 1; number <= used && (summed += 8) < SUMMED_MAX; number++)
        if (blocks[number].start)
            blocks[number].sum = sum_of(&blocks[number]);
}

/* The functions of a harness that write, or set where files are read to: they do nothing. */
#define SILENT(name) \
    int jarvis_silent_##name(void) { return 0; }
SILENT(printf) SILENT(fprintf) SILENT(puts) SILENT(fputs) SILENT(putchar) SILENT(fputc) SILENT(putc)
SILENT(fwrite) SILENT(perror) SILENT(fflush) SILENT(vprintf) SILENT(vfprintf) SILENT(setvbuf) SILENT(setbuf)
