int split(char *line, const char *table)
{
    char *colon = strchr(line, ':');              /* ruleid: possible_null_deref */
    *colon = '\0';
    char *slash = strrchr(line, '/');             /* ruleid: possible_null_deref */
    puts(slash + 1);
    *strstr(line, "end") = 0;                     /* ruleid: possible_null_deref */
    int n = atoi(strtok(line, " "));              /* ruleid: possible_null_deref */
    char *dot = strchr(line, '.');                /* ok: possible_null_deref */
    if (dot)
        *dot = 0;
    while ((line = strchr(line, ',')))            /* ok: possible_null_deref */
        *line++ = 0;
    if (strchr(table, n) != NULL)                 /* ok: possible_null_deref */
        return 1;
    char *eq = strchr(table, '=');                /* ok: possible_null_deref */
    if (eq == nullptr)
        return 0;
    return *eq;
}

int count(const char *path)
{
    char buf[80];
    FILE *in = fopen(path, "r");                  /* ruleid: possible_null_deref */
    fgets(buf, sizeof buf, in);
    FILE *log = fopen("log", "w");                /* ok: possible_null_deref */
    if (!log) {
        perror("log");
        return 1;
    }
    fprintf(log, "%s\n", buf);
    const char *home = getenv("HOME");            /* ruleid: possible_null_deref */
    size_t n = strlen(home);
    const char *shell = getenv("SHELL");          /* ok: possible_null_deref */
    printf("%s\n", shell ? shell : "none");
    int *found = (int *) bsearch(&n, table,       /* ruleid: possible_null_deref */
                                 9, sizeof(int), compare);
    return *found;
}

/* C++ */
void Window::draw(Shape *shape)
{
    dynamic_cast<Circle *>(shape)->draw();        /* ruleid: possible_null_deref */
    auto *box = dynamic_cast<Box *>(shape);       /* ruleid: possible_null_deref */
    box->draw();
    if (auto *line = dynamic_cast<Line *>(shape)) /* ok: possible_null_deref */
        line->draw();
    Circle &circle = dynamic_cast<Circle &>(*shape);  /* ok: possible_null_deref */
    circle.draw();
    finder.strchr(shape, 1)->draw();              /* ok: possible_null_deref */
}

/* kernel */
static int probe(struct platform_device *pdev)
{
    const struct of_device_id *match;
    struct resource *res;

    match = of_match_device(ids, &pdev->dev);     /* ruleid: possible_null_deref */
    setup(match->data);
    res = platform_get_resource(pdev, 0, 0);      /* ok: possible_null_deref */
    return IS_ERR(devm_ioremap_resource(&pdev->dev, res));
}

/* known to be NULL */
static int known(struct dev *dev, struct conn *conn, char *text)
{
    char *none = NULL;                            /* ok: possible_null_deref */
    struct conn *other = NULL;                    /* ruleid: possible_null_deref */
    if (!dev)                                     /* ruleid: possible_null_deref */
        return dev->error;
    if (conn == NULL) {                           /* ruleid: possible_null_deref */
        printf("no connection to %s\n", conn->name);
        return -1;
    }
    if (unlikely(!text))                          /* ruleid: possible_null_deref */
        fprintf(stderr, "%zu\n", strlen(text));
    if (!conn->next || !conn->next->name)         /* ok: possible_null_deref */
        return 1;
    if (!text) {                                  /* ok: possible_null_deref */
        text = strdup(conn->name);
        puts(text);
    }
    if (!dev) return -EINVAL;                     /* ok: possible_null_deref */
    dev->error = other->error;
    if (!conn) {                                  /* ok: possible_null_deref */
        goto out;
    } else {
        conn->name = none;
    }
    none = conn->name;
    none[0] = 0;
    text = conn->text = NULL;                     /* ok: possible_null_deref */
    fill(&text);
    *text = 0;
    if (!conn->head)
        conn->head = nullptr;                     /* ok: possible_null_deref */
    else
        conn->head->next = nullptr;               /* ok: possible_null_deref */
    if (conn == NULL) {                           /* ruleid: possible_null_deref */
        pr_err("no connection\n");
    }
    conn->open = 0;
out:
    return dev->error;
}

char *tail(char *path, char *list)
{
    if (strrchr(path, '/') != NULL)               /* ok: possible_null_deref */
        path = strrchr(path, '/') + 1;            /* ok: possible_null_deref */
    list = strchr(list, '\0') + 1;                /* ok: possible_null_deref */
    list = strchr(list, ',');                     /* ruleid: possible_null_deref */
    ++list;
    strchr(list, ';')[0] = 0;                     /* ruleid: possible_null_deref */
    path = strchr(path, 1) + 1;                   /* ruleid: possible_null_deref */
    fprintf(stdout, "%s", getenv("HOME"));        /* ok: possible_null_deref */
    fprintf(fopen(path, "w"), "x");               /* ruleid: possible_null_deref */
    parse(fopen(path, "r"));                      /* ok: possible_null_deref */
    return path;
}

void of_now(struct record *record)
{
    time_t now = time(NULL);
    struct tm *today = localtime(&now);            // ok: possible_null_deref
    struct tm *then = localtime(&record->time);    // ruleid: possible_null_deref
    show(today->tm_year, then->tm_year);
}

void list(DIR *directory)
{
    for (struct dirent *one = readdir(directory); one; one = readdir(directory)) { // ok: possible_null_deref
        puts(one->d_name);
    }
}

void trace()
{
    char *breakpoint = getenv("BREAKPOINT");       // ok: possible_null_deref
    if (breakpoint != NULL) {
        puts(breakpoint);
    }
}

void connect(Object *object)
{
    if (object && dynamic_cast<Listener *>(object))
        dynamic_cast<Listener *>(object)->note(1);       /* ok: possible_null_deref */
    dynamic_cast<Sender *>(object)->note(1);             /* ruleid: possible_null_deref */
}
