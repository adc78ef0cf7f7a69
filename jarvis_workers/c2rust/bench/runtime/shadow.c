/* Shadow: sampled calls of a function that runs in Rust are repeated in C, from the same memory, and compared.
 *
 * JARVIS_C2RUST_SHADOW names the functions.  At a sampled call the process forks twice: one child runs the C original
 * to its return, the other keeps the memory from before.  Then the Rust function runs here, and the result and all
 * memory that outlives the call are compared.  C runs first, so that a call that never returns, jumps out or has
 * effects outside of the process is known before Rust runs: such a function goes on unshadowed.  Where the two differ, C
 * runs again, with other contents of unused stack, unused argument registers and new blocks: what then differs from the
 * first run is indeterminate (padding, uninitialised bytes) and does not count; where it differs with the same contents,
 * C depends on more than its memory, and the function is not shadowed any more.
 *
 * JARVIS_C2RUST_SHAPES is a file with a line a function, of up to seven fields between tabs (c2rust/shapes.py): name; where
 * the result is, as `r0:ff,v1:0f` (general or vector register, mask of the bytes that count; "p" for a pointer), "-" for
 * none, "?" for one that cannot be compared; bytes of arguments on the stack; numbers of general and vector registers with
 * arguments, as `2+1`, without the second if they are unknown; masks of the bytes that count in the general ones; and,
 * if there are any, integers that the function mentions, in decimal, and
 * members that it accesses as OFFSET:SIZE:STRIDE:COUNT, "-" for none.  Without it, results and the arguments of calls (shadow_calls.c) are not compared.
 * errno is not compared: the C library may change it on success.
 *
 * Events of the log, after event, program, process id and name: `compared` with the numbers of calls compared and of
 * those with indeterminate bytes; `difference` with the number of the call, region, C's and Rust's bytes, and the
 * registers of arguments; `unshadowed` with the reason.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>

extern void *__libc_stack_end __attribute__((weak));

#include "shadow_heap.c"
#include "shadow_patch.c"
#include "shadow_memory.c"
#include "shadow_compare.c"
#include "shadow_calls.c"
#include "shadow_child.c"

#define SHARED __attribute__((visibility("default"), noinline))
#define MOST_REPORTED 16
#define MOST_DEPTH 8
#define CHILD_SECONDS 5
#define MOST_PIECES 8
#define VECTORS 8
#define OTHER_FILL 0 /* as locals that C leaves uninitialised are in Rust */
#define MOST_STACK ((ptrdiff_t)1 << 30)

struct piece {
    char kind;
    unsigned char number, mask;
};

/* Where a function accesses a member of a structure: its size, and of an array the distance and number of elements. */
struct access {
    uint64_t offset, bytes, stride, count;
};

struct watch {
    const struct slot *slot;
    void *target;
    long calls, compared, indeterminate, differences, new_kinds, work;
    long stack_bytes;
    unsigned char *features;
    uint64_t *constants;
    struct access *accesses;
    uint64_t constant_count, access_count;
    pid_t process;
    int on, active, reached, stale, registers, vectors, has_registers, pieces, varied, different, failed, endless, allocates;
    struct piece piece[MOST_PIECES];
};

#ifdef __x86_64__
#define REGISTERS 6
#define RETURN_BYTES 8
struct frame {
    uint64_t vector[8][2], unused, r10, rax, r9, r8, rcx, rdx, rsi, rdi;
    void *back;
};
static uint64_t argument_of(const struct frame *frame, int number)
{
    const uint64_t arguments[] = {frame->rdi, frame->rsi, frame->rdx, frame->rcx, frame->r8, frame->r9};
    return arguments[number];
}
static void set_argument(struct frame *frame, int number, uint64_t value)
{
    uint64_t *const arguments[] = {&frame->rdi, &frame->rsi, &frame->rdx, &frame->rcx, &frame->r8, &frame->r9};
    *arguments[number] = value;
}
static char *stack_of(struct frame *frame)
{
    return (char *)&frame->back;
}
#else
#define REGISTERS 8
#define RETURN_BYTES 0
struct frame {
    uint64_t x29;
    void *back;
    uint64_t x[10], vector[8][2];
};
static uint64_t argument_of(const struct frame *frame, int number)
{
    return frame->x[number];
}
static void set_argument(struct frame *frame, int number, uint64_t value)
{
    frame->x[number] = value;
}
static char *stack_of(struct frame *frame)
{
    return (char *)(frame + 1);
}
#endif

#include "shadow_choice.c"

/* A call that runs in Rust while its C result waits. */
struct call {
    struct watch *watch;
    void *back;
    char *stack;
    int socket, holder_socket;
    pid_t child, holder, process;
    uint64_t serial, arguments[REGISTERS];
    long number;
    int traced;
    struct report report;
    struct trace *trace; /* of C */
    struct memory *memory;
    struct chunk *chunks;
};

struct offsets {
    int count;
    off_t offset[MOST_FILES];
};

static struct shadow {
    pthread_t thread;
    int depth;
    struct call call[MOST_DEPTH];
    struct comparison comparison;
    struct offsets offsets;
} *shadow;

MODULE void *jv_fill_target;
MODULE void jv_return(void);
MODULE void jv_filled(void);
MODULE void jv_filled_otherwise(void);
extern char __libc_single_threaded __attribute__((weak));

static void refuse_variation(void);

static int is_doubled(void)
{
    return child->running || (shadow && shadow->depth);
}

static void log_watch(const char *event, const struct watch *watch, const char *facts)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "%s\t%s\t%d\t%s\t%s\n", event, program_invocation_short_name,
                          (int)getpid(), watch->slot->name, facts);
    write_log(line, length);
}

static void log_compared(const struct watch *watch)
{
    char facts[64];
    snprintf(facts, sizeof facts, "%ld\t%ld", watch->compared, watch->indeterminate);
    log_watch("compared", watch, facts);
}

static void unshadow(struct watch *watch, const char *reason)
{
    refuse_variation();
    watch->on = 0;
    log_watch("unshadowed", watch, reason);
}

static int other_threads_run(void)
{
    char text[1024], *field;
    if (&__libc_single_threaded && __libc_single_threaded)
        return 0;
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), fields = 18;
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return 1;
    text[length] = 0;
    for (field = strrchr(text, ')'); field && fields; fields--)
        field = strchr(field + 1, ' ');
    return !field || strtol(field, 0, 10) != 1;
}

/* Descriptors of the runtime are high, so that the program's own have the numbers they would have. */
static int open_sockets(int *ends)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return 0;
    for (int at = 0; at < 2; at++) {
        int high = fcntl(ends[at], F_DUPFD_CLOEXEC, file_limit() - SOCKETS);
        close(ends[at]);
        ends[at] = high;
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

/* A child that is not waited for by the program's own wait(), where the kernel allows that. */
static pid_t clone_process(void)
{
    pid_t parent = getpid();
    long process = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (process < 0)
        process = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!process) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
    }
    return (pid_t)process;
}

static int reap(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, __WALL) < 0 && errno == EINTR)
        ;
    return status;
}

static void read_offsets(struct offsets *offsets)
{
    struct pollfd files[MOST_FILES];
    offsets->count = open_files(files);
    for (int file = 0; file < offsets->count; file++)
        offsets->offset[file] = files[file].revents & POLLNVAL ? -1 : lseek(file, 0, SEEK_CUR);
}

static void restore_offsets(const struct offsets *offsets)
{
    for (int file = 0; file < offsets->count; file++)
        if (offsets->offset[file] >= 0)
            lseek(file, offsets->offset[file], SEEK_SET);
}

#include "shadow_vary.c"

/* A function that is called as another type than its own reads registers that nobody has set. */
static void change_unused_registers(const struct watch *watch, struct frame *frame)
{
    for (int at = watch->registers; at < REGISTERS && watch->has_registers; at++)
        set_argument(frame, at, ~argument_of(frame, at));
    for (int at = watch->vectors; at < VECTORS && watch->has_registers; at++)
        frame->vector[at][0] = ~frame->vector[at][0];
}

/* Turns this process into one that runs C; returns where to jump. */
static void *run_original(struct call *call, struct frame *frame, int socket, int fill, const sigset_t *mask)
{
    struct watch *watch = call->watch;
    child->running = watch;
    child->socket = socket;
    child->memory = call->memory;
    replace_files(socket, -1);
    confine();
    heap->fill = fill;
    frame->back = (void *)jv_return;
    if (variation.active)
        limit_time(MICROSECONDS_C);
    if (fill != FILL)
        change_unused_registers(watch, frame);
    sigprocmask(SIG_SETMASK, mask, 0);
    return (void *)(fill == FILL ? jv_filled : jv_filled_otherwise);
}

/* The other child: forks a process to run C for each byte that it is sent. Returns in these only. */
static void *hold_memory(struct call *call, struct frame *frame, int socket, const sigset_t *mask)
{
    unsigned char fill;
    while (receive_all(socket, &fill, 1, 0)) {
        restore_offsets(&shadow->offsets);
        pid_t process = clone_process();
        if (!process)
            return run_original(call, frame, socket, fill, mask);
        if (process < 0)
            break;
        reap(process);
    }
    _exit(0);
}

static void end_call(struct call *call)
{
    if (call->traced)
        end_trace();
    if (call->trace)
        munmap(call->trace, sizeof *call->trace);
    close(call->socket);
    close(call->holder_socket);
    kill(call->holder, SIGKILL);
    reap(call->holder);
    if (call->child > 0) {
        kill(call->child, SIGKILL);
        reap(call->child);
    }
    if (call->memory->hash)
        munmap(call->memory->hash, call->memory->hashes * sizeof *call->memory->hash);
    munmap(call->memory, sizeof *call->memory);
    if (call->chunks)
        munmap(call->chunks, (call->report.chunks + 1) * sizeof *call->chunks);
    call->watch->active = 0;
}

static void explain(const struct report *report, int status, char *text, size_t bytes)
{
    static const char *const reasons[] = {
        [RAN] = "changes too much memory", [JUMPED] = "calls longjmp",
        [READ_STREAM] = "reads a pipe, socket or terminal", [UNCONFINED] = "C cannot be confined: no seccomp filters",
    };
    if (report->status == NO_SCRATCH)
        snprintf(text, bytes, "descriptor %ld cannot be replaced", report->call);
    else if (report->status == CALLED)
        snprintf(text, bytes, "makes system call %ld", report->call);
    else if (report->status)
        snprintf(text, bytes, "%s", reasons[report->status]);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        snprintf(text, bytes, "makes a refused system call, signals blocked, as in pthread_create");
    else if (WIFSIGNALED(status))
        snprintf(text, bytes, "%s %d",
                 WTERMSIG(status) == SIGKILL ? "C runs too long, signal" : "C is killed by signal", WTERMSIG(status));
    else
        snprintf(text, bytes, "C ends the process with exit code %d", WEXITSTATUS(status));
}

static int is_complete(const struct report *report)
{
    return report->status == RAN && report->pages <= MOST_PAGES && report->chunks <= heap->reserved / CHUNK;
}

static int receive_trace(int socket, struct trace *into)
{
    return receive_all(socket, into, offsetof(struct trace, call), CHILD_SECONDS) && into->count < MOST_TRACED &&
           receive_all(socket, into->call, into->count * sizeof *into->call, CHILD_SECONDS);
}

/* Receives what C did; 0 if it did not return. */
static int receive_report(struct call *call)
{
    struct report *report = &call->report;
    if (!receive_all(call->socket, report, sizeof *report, CHILD_SECONDS) || !is_complete(report))
        return 0;
    call->chunks = pages((report->chunks + 1) * sizeof *call->chunks);
    call->memory->count = report->pages;
    call->trace = pages(sizeof *call->trace);
    return receive_all(call->socket, call->memory->page, report->pages * sizeof(char *), CHILD_SECONDS) &&
           receive_all(call->socket, call->chunks, report->chunks * sizeof *call->chunks, CHILD_SECONDS) &&
           receive_trace(call->socket, call->trace);
}

/* Starts both children; returns 0 in this process, else where the child jumps. */
static void *start_children(struct call *call, struct frame *frame, const sigset_t *mask)
{
    int ends[2], holder[2];
    if (!open_sockets(ends) || !open_sockets(holder)) {
        call->holder = -1;
        return 0;
    }
    call->holder = clone_process();
    if (!call->holder) {
        close(ends[0]), close(ends[1]), close(holder[0]);
        return hold_memory(call, frame, holder[1], mask);
    }
    call->child = call->holder < 0 ? -1 : clone_process();
    if (!call->child) {
        close(ends[0]), close(holder[0]), close(holder[1]);
        return run_original(call, frame, ends[1], FILL, mask);
    }
    close(ends[1]), close(holder[1]);
    call->socket = ends[0], call->holder_socket = holder[0];
    return 0;
}

/* Runs C; returns where to jump. */
static void *double_call(struct watch *watch, struct frame *frame, const sigset_t *mask)
{
    struct call *call = shadow->call + shadow->depth;
    char reason[128];
    *call = (struct call){.watch = watch, .back = frame->back, .stack = stack_of(frame)};
    call->process = watch->process, call->number = watch->calls;
    call->serial = heap->serial;
    for (int at = 0; at < REGISTERS; at++)
        call->arguments[at] = argument_of(frame, at);
    call->memory = pages(sizeof *call->memory);
    choose_ranges(call->memory, stack_of(frame) + RETURN_BYTES + watch->stack_bytes);
    hash_memory(call->memory);
    read_offsets(&shadow->offsets);
    call->traced = !shadow->depth;
    if (call->traced)
        start_trace(call->serial, call->stack);
    jv_fill_target = watch->slot->original; /* here, too: it belongs to the data */
    void *place = start_children(call, frame, mask);
    if (place)
        return place;
    if (call->holder < 0 || call->child < 0) {
        end_trace();
        unshadow(watch, "cannot fork");
        return watch->target;
    }
    watch->active = 1;
    int complete = receive_report(call);
    restore_offsets(&shadow->offsets);
    if (complete)
        confine_variation(call);
    if (!complete) {
        if (!call->report.status)
            kill(call->child, SIGKILL);
        pid_t process = call->child;
        call->child = 0;
        shutdown(call->socket, SHUT_RDWR);
        int status = reap(process);
        variation.outcome->is_endless = variation.active && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
        explain(&call->report, status, reason, sizeof reason);
        end_call(call);
        unshadow(watch, reason);
        return watch->target;
    }
    shadow->depth++;
    heap->fill = FILL;
    frame->back = (void *)jv_return;
    return watch->target;
}

/* Ends calls that were left by longjmp: their frames are gone. */
static void drop_left_calls(const char *stack)
{
    while (shadow->depth && shadow->call[shadow->depth - 1].stack < stack)
        end_call(shadow->call + --shadow->depth);
}

/* In a child that the program forked, the calls in progress are its parent's. */
static void notice_fork(struct watch *watch)
{
    pid_t process = getpid();
    if (watch->process != process)
        watch->compared = watch->indeterminate = watch->differences = 0;
    watch->process = process;
    for (int at = 0; at < shadow->depth; at++)
        if (shadow->call[at].process != process && shadow->call[at].socket >= 0) {
            close(shadow->call[at].socket), close(shadow->call[at].holder_socket);
            shadow->call[at].socket = -1;
        }
}

/* Why a call of the function cannot be compared, or null. */
static const char *obstacle(char *stack)
{
    if (!&__libc_stack_end || stack > (char *)__libc_stack_end || stack < (char *)__libc_stack_end - MOST_STACK)
        return "runs on a stack of its own";
    return other_threads_run() ? "other threads run" : 0;
}

/* Called at each call of a monitored function; returns whether the call is traced: then its cell must stay. */
SHARED int jv_shadow_note(const struct slot *slot, const struct frame *frame)
{
    uint64_t arguments[REGISTERS_TRACED];
    if (!is_tracing)
        return 0;
    if (!child->running && (!shadow->depth || !pthread_equal(pthread_self(), shadow->thread)))
        return 1;
    for (int at = 0; at < REGISTERS_TRACED; at++)
        arguments[at] = argument_of(frame, at);
    trace_call(slot, arguments, (const char *)frame);
    return 1;
}

/* Called at each call of a shadowed function; returns where to jump. */
SHARED void *jv_shadow_before(struct watch *watch, struct frame *frame)
{
    sigset_t all, mask;
    if (child->running)
        return child->running == watch ? watch->slot->original : watch->target;
    if (is_done(watch) && !shadow->depth) /* cells belong to the data that is compared */
        __atomic_store_n(watch->slot->cell, watch->target, __ATOMIC_RELEASE);
    if (is_done(watch) || watch->active || !pthread_equal(pthread_self(), shadow->thread))
        return watch->target;
    watch->calls++;
    long new_kinds = watch->new_kinds;
    if (shadow->depth)
        drop_left_calls(stack_of(frame));
    if (variation.active || shadow->depth == MOST_DEPTH || !is_sampled(watch, frame, stack_of(frame)))
        return watch->target;
    int saved = errno;
    notice_fork(watch);
    const char *reason = obstacle(stack_of(frame));
    if (reason) {
        unshadow(watch, reason);
        errno = saved;
        return watch->target;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    if (!shadow->depth)
        vary_call(watch, frame, watch->new_kinds > new_kinds);
    void *place = double_call(watch, frame, &mask);
    if (!child->running)
        sigprocmask(SIG_SETMASK, &mask, 0);
    errno = saved;
    return place;
}

#include "shadow_verdict.c"
#include "shadow_start.c"
