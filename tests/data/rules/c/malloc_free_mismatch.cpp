class Reader {
public:
    Reader() : text_(nullptr) { text_ = new char[80]; names_ = new Names; }
    ~Reader()
    {
        delete text_;                       /* ruleid: malloc_free_mismatch */
        delete names_;                      /* ok: malloc_free_mismatch */
    }
    void free(char *p);
    void close();
private:
    char *text_;
    Names *names_;
};

void Reader::close()
{
    char *line = static_cast<char *>(std::malloc(80));
    int *counts = new int[8];
    auto *one = new (std::nothrow) Names();
    std::unique_ptr<Names> owned(new Names);
    char *copy = strdup("x");
    delete line;                            /* ruleid: malloc_free_mismatch */
    delete counts;                          /* ruleid: malloc_free_mismatch */
    delete[] one;                           /* ruleid: malloc_free_mismatch */
    ::free(one);                            /* ruleid: malloc_free_mismatch */
    this->free(copy);                       /* ok: malloc_free_mismatch */
    std::free(copy);                        /* ok: malloc_free_mismatch */
    owned.reset();                          /* ok: malloc_free_mismatch */
}

extern "C" int read_all(const char *path, bool piped)
{
    FILE *in = piped ? popen(path, "r") : fopen(path, "r");
    FILE *out = fopen("/dev/null", "w");
    FILE *pipe = popen("cat", "w");
    DIR *dir = opendir(path);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0);
    fclose(in);                             /* ok: malloc_free_mismatch */
    free(out);                              /* ruleid: malloc_free_mismatch */
    fclose(pipe);                           /* ruleid: malloc_free_mismatch */
    free(map);                              /* ruleid: malloc_free_mismatch */
    closedir(dir);                          /* ok: malloc_free_mismatch */
    return 0;
}

/* kernel */
static int allocate(struct device *dev, size_t n)
{
    u8 *small = kmalloc(n, GFP_KERNEL);
    u8 *large = vmalloc(n);
    u8 *either = kvmalloc(n, GFP_KERNEL);
    u8 *managed = devm_kzalloc(dev, n, GFP_KERNEL);
    u8 *chosen = n > 4096 ? vmalloc(n) : NULL;
    u8 *two;
    if (n > 4096)
        two = vmalloc(n);
    else
        two = kmalloc(n, GFP_KERNEL);
    vfree(small);                           /* ruleid: malloc_free_mismatch */
    kfree(large);                           /* ruleid: malloc_free_mismatch */
    kfree(either);                          /* ruleid: malloc_free_mismatch */
    kfree(managed);                         /* ruleid: malloc_free_mismatch */
    kvfree(large);                          /* ok: malloc_free_mismatch */
    kvfree(either);                         /* ok: malloc_free_mismatch */
    vfree(chosen);                          /* ok: malloc_free_mismatch */
    kfree(two);                             /* ok: malloc_free_mismatch */
    kfree(dev->data);                       /* ok: malloc_free_mismatch */
    return 0;
}

Names &operator delete(Names &names);       /* ok: malloc_free_mismatch */
struct Pinned { Pinned(const Pinned &) = delete; };  /* ok: malloc_free_mismatch */

static void told_apart(char *buf, size_t n)
{
    buf = kmalloc(n, GFP_KERNEL);
    if (is_vmalloc_addr(buf)) {
        vfree(buf);                         /* ok: malloc_free_mismatch */
    } else {
        kfree(buf);                         /* ok: malloc_free_mismatch */
    }
}

int watch(const char *name)
{
#if HAVE_DIRECTORIES
    DIR *list = opendir(name);
#else
    struct listing *list = (struct listing *) malloc(sizeof(struct listing));
#endif

    if (list == NULL)
        return -1;
    closedir(list);                                /* ok: malloc_free_mismatch */
    return 0;
}

int
closedir(struct listing *list)
{
    drop(list->names);
    free(list);
    return 0;
}

void list_names(const char *name)
{
    struct listing *list = (struct listing *) malloc(sizeof(struct listing));

    read_names(list, name);
    closedir(list);                                /* ok: malloc_free_mismatch */
}
