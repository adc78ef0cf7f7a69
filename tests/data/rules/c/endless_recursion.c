/* Calls itself with what it got, or on every way through it. */
static void print_down(int number)
{
    printf("%d\n", number);
    if (number == 0)
        return;
    print_down(number--);                          /* ruleid: unbounded_recursion */
}

static int sum_of(const int *numbers, int size, int index)
{
    if (index == size)
        index = 0;
    return numbers[index] + sum_of(numbers, size, index + 1); /* ruleid: unbounded_recursion */
}

static void count_down(int number)
{
    printf("%d\n", number);
    if (number == 0)
        return;
    count_down(--number);                          /* ok: unbounded_recursion */
}

static void wait_for(struct job *job)
{
    if (job_done(job))
        return;
    wait_for(job);                                 /* ok: unbounded_recursion */
}

static int find_in(struct list *list, int key)
{
    if (list->key == key)
        return 1;
    list->key++;
    return find_in(list, key);                     /* ok: unbounded_recursion */
}

static int depth_of(const struct node *node)
{
    return node ? 1 + depth_of(node->next) : 0;    /* ok: unbounded_recursion */
}

static int any_of(const struct node *node)
{
    return node->set || any_of(node->next);        /* ok: unbounded_recursion */
}

static void visit_all(struct node *node)
{
    RETURN_IF(node == NULL);
    visit(node);
    visit_all(node->next);                         /* ok: unbounded_recursion */
}

static void visit_some(struct node *node)
{
    g_return_if_fail(node != NULL);
    visit(node);
    visit_some(node->next);                        /* ok: unbounded_recursion */
}

static void visit_or_die(struct node *node)
{
    die_unless(node);
    visit_or_die(node->next);                      /* ok: unbounded_recursion */
}

TEST(first) { run_first(arg); }

TEST(second) { run_second(arg); }                  /* ok: unbounded_recursion */

TEST(third) {
    run_third(arg);
}
