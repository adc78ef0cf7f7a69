/* Redirect the memory functions and some others of all loaded modules, by their relocations, while shadow is on.
 *
 * Nothing is interposed by name: a program without shadow has no cost, and one with an allocator of its own, or
 * another's (sanitizers), does not notice.  Included by shadow.c.
 */
#if defined(__x86_64__)
#define RELOCATES_FUNCTION(type) ((type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_64)
#else
#define RELOCATES_FUNCTION(type)                                                                                       \
    ((type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_ABS64)
#endif

struct redirection {
    const char *name;
    void *function;
    void **library;
};

static void *(*library_dlopen)(const char *, int);
static void (*library_longjmp)(jmp_buf, int), (*library_siglongjmp)(jmp_buf, int), (*library_checked)(jmp_buf, int);
static void *jv_dlopen(const char *path, int mode);
static void refuse_longjmp(void);

static void jv_longjmp(jmp_buf place, int value)
{
    refuse_longjmp();
    library_longjmp(place, value);
}

static void jv_siglongjmp(jmp_buf place, int value)
{
    refuse_longjmp();
    library_siglongjmp(place, value);
}

static void jv_longjmp_checked(jmp_buf place, int value)
{
    refuse_longjmp();
    library_checked(place, value);
}

static const struct redirection redirections[] = {
    {"malloc", jv_malloc, (void **)&library.malloc},
    {"calloc", jv_calloc, (void **)&library.calloc},
    {"realloc", jv_realloc, (void **)&library.realloc},
    {"free", jv_free, (void **)&library.free},
    {"malloc_usable_size", jv_malloc_usable_size, (void **)&library.usable},
    {"reallocarray", jv_reallocarray, 0},
    {"aligned_alloc", jv_aligned_alloc, 0},
    {"memalign", jv_aligned_alloc, 0},
    {"posix_memalign", jv_posix_memalign, 0},
    {"valloc", jv_valloc, 0},
    {"longjmp", jv_longjmp, (void **)&library_longjmp},
    {"_longjmp", jv_longjmp, 0},
    {"siglongjmp", jv_siglongjmp, (void **)&library_siglongjmp},
    {"__longjmp_chk", jv_longjmp_checked, (void **)&library_checked},
    {"dlopen", jv_dlopen, (void **)&library_dlopen},
};
#define REDIRECTIONS (sizeof redirections / sizeof *redirections)
#define MEMORY_FUNCTIONS 10

static size_t first_redirection;

struct dynamic {
    ElfW(Rela) *relocations[2];
    size_t sizes[2];
    const ElfW(Sym) *symbols;
    const char *strings;
};

static void *own_address(const struct dl_phdr_info *module, ElfW(Addr) value)
{
    return (void *)(value < module->dlpi_addr ? value + module->dlpi_addr : value);
}

static struct dynamic dynamic_of(const struct dl_phdr_info *module)
{
    struct dynamic found = {0};
    const ElfW(Dyn) *entry = 0;
    for (int at = 0; at < module->dlpi_phnum; at++)
        if (module->dlpi_phdr[at].p_type == PT_DYNAMIC)
            entry = (void *)(module->dlpi_addr + module->dlpi_phdr[at].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        void *address = own_address(module, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_RELA: found.relocations[0] = address; break;
        case DT_RELASZ: found.sizes[0] = entry->d_un.d_val; break;
        case DT_JMPREL: found.relocations[1] = address; break;
        case DT_PLTRELSZ: found.sizes[1] = entry->d_un.d_val; break;
        case DT_SYMTAB: found.symbols = address; break;
        case DT_STRTAB: found.strings = address; break;
        }
    }
    return found;
}

static const struct redirection *redirection_of(const char *name)
{
    for (size_t at = first_redirection; at < REDIRECTIONS; at++)
        if (!strcmp(name, redirections[at].name))
            return redirections + at;
    return 0;
}

static void write_pointer(void **cell, void *value)
{
    char *page = (char *)((uintptr_t)cell & ~(PAGE - 1));
    if (*cell != value && !mprotect(page, PAGE, PROT_READ | PROT_WRITE))
        *cell = value;
}

static int redirect_module(struct dl_phdr_info *module, size_t size, void *unused)
{
    struct dynamic dynamic = dynamic_of(module);
    const char *file = strrchr(module->dlpi_name, '/');
    int loader = file && (!strncmp(file, "/ld-", 4) || !strncmp(file, "/ld.", 4));
    (void)size, (void)unused;
    for (int part = 0; part < 2 && dynamic.symbols && !loader; part++) {
        ElfW(Rela) *row = dynamic.relocations[part], *end = row ? row + dynamic.sizes[part] / sizeof *row : 0;
        for (; row < end; row++) {
            if (!RELOCATES_FUNCTION(ELF64_R_TYPE(row->r_info)) || row->r_addend)
                continue;
            const ElfW(Sym) *symbol = dynamic.symbols + ELF64_R_SYM(row->r_info);
            const struct redirection *found = redirection_of(dynamic.strings + symbol->st_name);
            if (found)
                write_pointer((void **)(module->dlpi_addr + row->r_offset), found->function);
        }
    }
    return 0;
}

static void *jv_dlopen(const char *path, int mode)
{
    void *module = library_dlopen(path, mode);
    int saved = errno;
    if (module)
        dl_iterate_phdr(redirect_module, 0);
    errno = saved;
    return module;
}

/* Whether the program or a sanitizer defines malloc. The address of the C library's may be a stub in the program. */
static int has_own_malloc(void)
{
    Dl_info own, common;
    const ElfW(Sym) *symbol = 0;
    void *function = dlsym(RTLD_DEFAULT, "malloc"), *next = dlsym(RTLD_NEXT, "abort");
    if (!dladdr1(function, &own, (void **)&symbol, RTLD_DL_SYMENT) || !next || !dladdr(next, &common))
        return 1;
    return own.dli_fbase != common.dli_fbase && !(symbol && symbol->st_shndx == SHN_UNDEF);
}

static void redirect_functions(void)
{
    for (size_t at = 0; at < REDIRECTIONS; at++)
        if (redirections[at].library)
            *redirections[at].library = dlsym(RTLD_NEXT, redirections[at].name);
    first_redirection = has_own_malloc() ? MEMORY_FUNCTIONS : 0;
    dl_iterate_phdr(redirect_module, 0);
}
