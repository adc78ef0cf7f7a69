/* Start and end of shadow, and the code that a doubled call returns to.  Included by shadow.c. */
static void read_pieces(struct watch *watch, const char *text)
{
    for (; *text && watch->pieces < MOST_PIECES && strchr("rpv", *text); text++) {
        struct piece *piece = watch->piece + watch->pieces++;
        const char *end = "";
        *piece = (struct piece){*text, (unsigned char)(text[1] - '0'), 0};
        piece->mask = (unsigned char)(text[1] && text[2] == ':' ? strtoul(text + 3, (char **)&end, 16) : 0);
        if (!piece->mask || piece->number > (piece->kind == 'v' ? 3 : 1))
            fail("JARVIS_C2RUST_SHAPES", "not a file of shapes");
        text = end;
        if (*text != ',')
            break;
    }
}

static void read_masks(unsigned char *into, const char *text)
{
    for (int at = 0; at < REGISTERS_TRACED && *text && *text != '-'; at++) {
        char *end;
        into[at] = (unsigned char)strtoul(text, &end, 16);
        text = end + (*end == ',');
    }
}

static void read_constants(struct watch *watch, char *text)
{
    watch->constants = pages((strlen(text) / 2 + 1) * sizeof *watch->constants);
    for (char *rest, *number = *text == '-' && !text[1] ? 0 : strtok_r(text, ",", &rest); number; number = strtok_r(0, ",", &rest))
        watch->constants[watch->constant_count++] = (uint64_t)strtoll(number, 0, 10);
}

static void read_accesses(struct watch *watch, char *text)
{
    watch->accesses = pages((strlen(text) / 8 + 1) * sizeof *watch->accesses);
    for (char *rest, *one = strtok_r(text, ",", &rest); one; one = strtok_r(0, ",", &rest)) {
        struct access *access = watch->accesses + watch->access_count;
        watch->access_count += sscanf(one, "%lu:%lu:%lu:%lu", &access->offset, &access->bytes, &access->stride,
                                      &access->count) == 4 && access->bytes && access->bytes <= 8 && access->count;
    }
}

static void read_registers(struct watch *watch, const char *text)
{
    char *end;
    watch->registers = (int)(strtoul(text, &end, 10) % (REGISTERS + 1));
    watch->has_registers = *end == '+';
    watch->vectors = watch->has_registers ? (int)(strtoul(end + 1, 0, 10) % (VECTORS + 1)) : VECTORS;
}

static void read_shape(struct watch *watch, size_t count, char *line)
{
    char *rest, *name = strtok_r(line, "\t", &rest), *result = strtok_r(0, "\t", &rest);
    char *stack = strtok_r(0, "\t", &rest), *registers = strtok_r(0, "\t", &rest), *masks = strtok_r(0, "\t", &rest);
    char *constants = strtok_r(0, "\t", &rest), *accesses = strtok_r(0, "\t", &rest);
    struct traced_module *module = traced_modules + traced_module_count - 1;
    for (size_t at = 0; at < module->count && masks; at++)
        if (!strcmp(module->slots[at].name, name))
            read_masks(module->masks[at], masks);
    for (size_t at = 0; at < count && registers; at++)
        if (watch[at].on && !strcmp(watch[at].slot->name, name)) {
            watch[at].stack_bytes = strtol(stack, 0, 10);
            read_registers(watch + at, registers);
            if (constants)
                read_constants(watch + at, constants);
            if (accesses)
                read_accesses(watch + at, accesses);
            if (*result == '?')
                unshadow(watch + at, "returns what cannot be compared");
            else
                read_pieces(watch + at, result);
        }
}

static void read_shapes(struct watch *watch, size_t count)
{
    const char *path = secure_getenv("JARVIS_C2RUST_SHAPES");
    char *rest;
    if (path && *path)
        for (char *line = strtok_r(read_list(path), "\n", &rest); line; line = strtok_r(0, "\n", &rest))
            read_shape(watch, count, line);
}

static void start_process(void)
{
    find_log();
    shadow = pages(sizeof *shadow);
    shadow->thread = pthread_self();
    open_heap();
    open_variations();
    child = pages(sizeof *child);
    child->log_file = -1;
    log_file = &child->log_file;
    redirect_functions();
    try_pagemap();
}

/* Watches the functions of a module that are on; `module` is an address in it. */
SHARED void jv_shadow_start(struct watch *watch, size_t count, void *module)
{
    if (!shadow)
        start_process();
    else
        dl_iterate_phdr(redirect_module, 0);
    size_t first = 0;
    while (!watch[first].on)
        first++;
    dl_iterate_phdr(add_module, (void *[]){module, watch[first].target});
    add_traced_module(module, count);
    read_shapes(watch, count);
}

SHARED void jv_shadow_end(struct watch *watch, size_t count)
{
    for (size_t at = 0; at < count && !child->running; at++)
        if (watch[at].compared && watch[at].process == getpid())
            log_compared(watch + at);
}

/* jv_return saves what may hold a result. jv_filled fills unused stack and jumps to the C original. */
#if defined(__x86_64__)
#define FILLED(name, word)                                                                                             \
    ".hidden " name "\n.globl " name "\n.type " name ", @function\n" name ":\n\tleaq -32768(%rsp), %r11\n"              \
    "1:\tmovl $" word ", (%r11)\n\taddq $4, %r11\n\tcmpq %rsp, %r11\n\tjb 1b\n\tjmp *jv_fill_target(%rip)\n"            \
    "\t.size " name ", .-" name "\n"
__asm__(".text\n.hidden jv_return\n.globl jv_return\n.type jv_return, @function\njv_return:\n\tsubq $96, %rsp\n"
        "\tmovups %xmm0, (%rsp)\n\tmovups %xmm1, 16(%rsp)\n\tmovq %rax, 64(%rsp)\n\tmovq %rdx, 72(%rsp)\n"
        "\tmovq %rsp, %rdi\n\tleaq 88(%rsp), %rsi\n\tcall jv_shadow_after@PLT\n\tmovq %rax, 88(%rsp)\n"
        "\tmovups (%rsp), %xmm0\n\tmovups 16(%rsp), %xmm1\n\tmovq 64(%rsp), %rax\n\tmovq 72(%rsp), %rdx\n"
        "\taddq $88, %rsp\n\tret\n\t.size jv_return, .-jv_return\n" FILLED("jv_filled", "0x5a5a5a5a")
            FILLED("jv_filled_otherwise", "0"));
#else
#define FILLED(name, half)                                                                                             \
    ".hidden " name "\n.globl " name "\n.type " name ", %function\n" name ":\n\tmov w17, " half "\n"                    \
    "\tmovk w17, " half ", lsl 16\n\tsub x16, sp, 32768\n\tmov x9, sp\n1:\tstr w17, [x16], 4\n\tcmp x16, x9\n\tb.lo 1b\n" \
    "\tadrp x16, jv_fill_target\n\tldr x16, [x16, :lo12:jv_fill_target]\n\tbr x16\n\t.size " name ", .-" name "\n"
__asm__(".text\n.hidden jv_return\n.globl jv_return\n.type jv_return, %function\njv_return:\n\tsub sp, sp, 96\n"
        "\tstp q0, q1, [sp]\n\tstp q2, q3, [sp, 32]\n\tstp x0, x1, [sp, 64]\n\tmov x0, sp\n\tadd x1, sp, 96\n"
        "\tbl jv_shadow_after\n\tmov x30, x0\n\tldp q0, q1, [sp]\n\tldp q2, q3, [sp, 32]\n\tldp x0, x1, [sp, 64]\n"
        "\tadd sp, sp, 96\n\tret\n\t.size jv_return, .-jv_return\n" FILLED("jv_filled", "0x5a5a")
            FILLED("jv_filled_otherwise", "0"));
#endif
