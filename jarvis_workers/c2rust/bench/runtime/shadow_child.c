/* The process that runs the C original: it cannot disturb the program, and hands out its memory afterwards.
 *
 * Its descriptors are replaced where their use would be noticed, and a seccomp filter ends it at a system call with
 * an effect outside of it.  Included by shadow.c.
 */
#define MOST_FILES 1024
#define MOST_COPY (1 << 20)
#define BATCH 64
#define SOCKETS 64 /* descriptors below the limit that are the runtime's */

struct watch;

static void refuse_variation(void);
static int is_varied(void);
static void leave_variation(void) __attribute__((noreturn));

enum status { RAN = 1, JUMPED, CALLED, READ_STREAM, NO_SCRATCH, UNCONFINED };

struct result {
    uint64_t vector[4][2], integer[2];
};

/* What the child says first, after the call or in place of it. */
struct report {
    enum status status;
    long call;
    struct result result;
    size_t chunks, pages;
};

/* Apart from the data of the program: a call that reads too far must find the same in C and in Rust. */
static struct child_state {
    struct watch *running; /* null in the program itself */
    int socket, streams[MOST_FILES], probes, log_file;
    struct memory *memory;
} no_child, *child = &no_child;

static int send_all(int socket, const void *bytes, size_t count)
{
    for (const char *from = bytes; count;) {
        ssize_t sent = send(socket, from, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        from += sent, count -= (size_t)sent;
    }
    return 1;
}

/* Receives within `seconds`; 0 waits for ever. */
static int receive_all(int socket, void *bytes, size_t count, int seconds)
{
    for (char *to = bytes; count;) {
        struct pollfd wait = {socket, POLLIN, 0};
        int ready = seconds ? poll(&wait, 1, seconds * 1000) : 1;
        ssize_t got = ready > 0 ? recv(socket, to, count, 0) : ready;
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        to += got, count -= (size_t)got;
    }
    return 1;
}

__attribute__((noreturn)) static void give_up(enum status status, long call)
{
    refuse_variation();
    struct report report = {.status = status, .call = call};
    send_all(child->socket, &report, sizeof report);
    _exit(0);
}

static void refuse_longjmp(void)
{
    if (child->running)
        give_up(JUMPED, 0);
    if (is_varied())
        leave_variation();
}

static void at_refused_call(int signal, siginfo_t *about, void *context)
{
    (void)signal, (void)context;
    give_up(CALLED, about->si_syscall);
}

static int file_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > MOST_FILES ? MOST_FILES : (int)limit.rlim_cur;
}

static int make_file(const char *directory, int flags)
{
    char name[LINE_BYTES];
    snprintf(name, sizeof name, "%s/jarvis-shadow-XXXXXX", directory);
    int file = mkostemp(name, (flags & (O_APPEND | O_NONBLOCK)) | O_CLOEXEC);
    if (file >= 0)
        unlink(name);
    return file;
}

/* A file without a name, in TMPDIR, /tmp, or beside the log. */
static int make_scratch(int flags)
{
    char beside[LINE_BYTES];
    const char *directory = secure_getenv("TMPDIR");
    int file = directory ? make_file(directory, flags) : -1;
    if (file < 0)
        file = make_file("/tmp", flags);
    strcpy(beside, log_path);
    char *end = strrchr(beside, '/');
    if (file < 0 && end) {
        *end = 0;
        file = make_file(beside, flags);
    }
    return file;
}

/* Returns a descriptor of the same file that refuses to read, as that of the program does. */
static int only_written(int file, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int other = open(path, O_WRONLY | (flags & (O_APPEND | O_NONBLOCK)) | O_CLOEXEC);
    if (other < 0)
        return file;
    close(file);
    return other;
}

/* A file of the same size and offset that nobody else sees; with the contents if they can be read back. */
static int scratch_of(int file, int flags, const struct stat *facts)
{
    char bytes[4096];
    int scratch = make_scratch(flags);
    if (scratch < 0)
        return -1;
    off_t at = 0;
    ssize_t got;
    if ((flags & O_ACCMODE) == O_WRONLY)
        scratch = only_written(scratch, flags);
    if ((flags & O_ACCMODE) == O_RDWR)
        for (; (got = pread(file, bytes, sizeof bytes, at)) > 0; at += got)
            if (facts->st_size > MOST_COPY || pwrite(scratch, bytes, (size_t)got, at) != got)
                return -1;
    if (ftruncate(scratch, facts->st_size) || lseek(scratch, lseek(file, 0, SEEK_CUR), SEEK_SET) < 0)
        return -1;
    return scratch;
}

/* A stream to write into, with one byte to read: whether it was read shows afterwards. */
static int stream_of(int flags)
{
    int ends[2];
    if ((flags & O_ACCMODE) == O_WRONLY)
        return open("/dev/null", O_WRONLY);
    if ((flags & O_ACCMODE) == O_RDONLY ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return -1;
    int reads = (flags & O_ACCMODE) == O_RDONLY;
    int far = fcntl(ends[reads], F_DUPFD, file_limit() - SOCKETS);
    close(ends[reads]);
    if (far < 0 || write(far, "", 1) != 1)
        return -1;
    if (reads)
        close(far); /* the second read finds the end */
    return ends[!reads];
}

static int is_memory_device(const struct stat *facts)
{
    return S_ISCHR(facts->st_mode) && major(facts->st_rdev) == 1;
}

static void replace_file(int file)
{
    struct stat facts;
    int flags = fcntl(file, F_GETFL), own = -1;
    if (flags < 0 || fstat(file, &facts) || is_memory_device(&facts) || S_ISDIR(facts.st_mode) || flags & O_PATH)
        return;
    if (S_ISREG(facts.st_mode)) {
        if ((flags & O_ACCMODE) == O_RDONLY)
            return; /* the parent restores the offset */
        own = scratch_of(file, flags, &facts);
    } else {
        own = stream_of(flags);
        if ((flags & O_ACCMODE) != O_WRONLY)
            child->streams[child->probes++] = file;
    }
    if (own < 0 || dup3(own, file, fcntl(file, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
        give_up(NO_SCRATCH, file);
    close(own);
}

/* Fills `files` with the open descriptors below MOST_FILES. */
static int open_files(struct pollfd *files)
{
    int count = file_limit();
    for (int file = 0; file < count; file++)
        files[file] = (struct pollfd){file, 0, 0};
    return poll(files, (nfds_t)count, 0) < 0 ? 0 : count;
}

static void replace_files(int socket, int other)
{
    struct pollfd files[MOST_FILES];
    int count = open_files(files);
    for (int file = 0; file < count; file++)
        if (!(files[file].revents & POLLNVAL) && file != socket && file != other)
            replace_file(file);
}

/* Whether C has read one of the streams, or closed it, so that this is not known. */
static int has_read_stream(void)
{
    for (int at = 0; at < child->probes; at++) {
        int left = 0;
        if (ioctl(child->streams[at], FIONREAD, &left) || !left)
            return 1;
    }
    return 0;
}

static const int harmless_calls[] = {
    SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_lseek, SYS_close,
    SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getcwd, SYS_getdents64, SYS_ftruncate,
    SYS_fsync, SYS_fdatasync, SYS_dup, SYS_dup3, SYS_fcntl, SYS_ioctl, SYS_ppoll, SYS_pselect6, SYS_pipe2,
    SYS_socketpair, SYS_sendto, SYS_recvfrom, SYS_munmap, SYS_mprotect, SYS_brk, SYS_mremap, SYS_madvise,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_sigaltstack, SYS_restart_syscall,
    SYS_futex, SYS_sched_yield, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_getres,
    SYS_gettimeofday, SYS_getitimer, SYS_setitimer, SYS_getpid, SYS_getppid, SYS_gettid,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgid, SYS_getsid, SYS_uname, SYS_sysinfo, SYS_getrandom,
    SYS_prlimit64, SYS_getrlimit, SYS_umask, SYS_exit, SYS_exit_group, SYS_membarrier, SYS_rseq, SYS_umask,
#ifdef __x86_64__
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_poll, SYS_select, SYS_time, SYS_alarm, SYS_pipe,
#endif
};
#define HARMLESS (sizeof harmless_calls / sizeof *harmless_calls)

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)
/* A call that is allowed if the argument, masked, is `value`. */
#define ALLOWED_IF(call, number, mask, value)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5), LOAD(args[number]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),     \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), ANSWER(ALLOW), ANSWER(TRAP)
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC)

/* Emulators of user programs have no filters. JARVIS_C2RUST_UNCONFINED=1 goes on: then C may write files twice. */
static void confine(void)
{
    struct sigaction action = {.sa_sigaction = at_refused_call, .sa_flags = SA_SIGINFO};
    uint32_t self = (uint32_t)getpid();
    const struct sock_filter conditions[] = {
        LOAD(nr),
        ALLOWED_IF(SYS_openat, 2, WRITES, O_RDONLY),
        ALLOWED_IF(SYS_mmap, 3, MAP_SHARED, 0),
        ALLOWED_IF(SYS_clock_gettime, 0, ~(uint32_t)5, 0), /* no CPU time: it begins with the process */
        ALLOWED_IF(SYS_kill, 0, 0xffffffff, self),
        ALLOWED_IF(SYS_tkill, 0, 0xffffffff, self),
        ALLOWED_IF(SYS_tgkill, 0, 0xffffffff, self),
#ifdef __x86_64__
        ALLOWED_IF(SYS_open, 1, WRITES, O_RDONLY),
#endif
    };
    const size_t first = sizeof conditions / sizeof *conditions;
    struct sock_filter filter[sizeof conditions / sizeof *conditions + 2 * HARMLESS + 3];
    memcpy(filter, conditions, sizeof conditions);
    for (size_t at = 0; at < HARMLESS; at++) {
        filter[first + 2 * at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, harmless_calls[at], 0, 1);
        filter[first + 2 * at + 1] = (struct sock_filter)ANSWER(ALLOW);
    }
    uint32_t waits = is_varied() && !child->running ? SYS_wait4 : (uint32_t)harmless_calls[0];
    filter[first + 2 * HARMLESS] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, waits, 0, 1);
    filter[first + 2 * HARMLESS + 1] = (struct sock_filter)ANSWER(ALLOW);
    filter[first + 2 * HARMLESS + 2] = (struct sock_filter)ANSWER(TRAP);
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    sigaction(SIGSYS, &action, 0);
    const char *unconfined = secure_getenv("JARVIS_C2RUST_UNCONFINED");
    if ((prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) &&
        !(unconfined && !strcmp(unconfined, "1")))
        give_up(UNCONFINED, 0);
}

static void keep_log_open(void)
{
    int file = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    child->log_file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, file_limit() - SOCKETS);
    if (file >= 0)
        close(file);
}

/* Hands out pages until the parent closes the socket. Never returns. */
__attribute__((noreturn)) static void serve_memory(const struct result *result)
{
    if (has_read_stream())
        give_up(READ_STREAM, 0);
    end_trace();
    list_changes(child->memory);
    struct report report = {RAN, 0, *result, heap->chunks, child->memory->count};
    if (child->memory->overflow)
        report.pages = MOST_PAGES + 1;
    send_all(child->socket, &report, sizeof report);
    send_all(child->socket, child->memory->page, child->memory->count * sizeof *child->memory->page);
    send_all(child->socket, heap->table, heap->chunks * sizeof *heap->table);
    send_all(child->socket, trace, offsetof(struct trace, call));
    send_all(child->socket, trace->call, trace->count * sizeof *trace->call);
    char *page[BATCH];
    uint32_t count;
    while (receive_all(child->socket, &count, sizeof count, 0) && count <= BATCH &&
           receive_all(child->socket, page, count * sizeof *page, 0))
        for (uint32_t at = 0; at < count; at++) {
            int absent = in_reserve((uintptr_t)page[at]) && page[at] >= heap->base + heap->committed;
            send_all(child->socket, absent ? zeros : page[at], PAGE);
        }
    _exit(0);
}
