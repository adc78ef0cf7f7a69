static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first, second, log_lock, never;

int change(int n)
{
    pthread_mutex_lock(&lock);                     /* ruleid: deadlock_patterns */
    if (n < 0)
        return -1;
    total += n;
    pthread_mutex_unlock(&lock);
    return 0;
}

int change_well(int n)
{
    pthread_mutex_lock(&lock);                     /* ok: deadlock_patterns */
    if (n < 0) {
        pthread_mutex_unlock(&lock);
        return -1;
    }
    total += n;
    pthread_mutex_unlock(&lock);
    return 0;
}

int twice(int n)
{
    pthread_mutex_lock(&log_lock);                 /* ruleid: deadlock_patterns */
    count(n);
    pthread_mutex_lock(&log_lock);                 /* ok: deadlock_patterns */
    count(n + 1);
    pthread_mutex_unlock(&log_lock);
    return n;
}

void there(void)
{
    pthread_mutex_lock(&first);                    /* ok: deadlock_patterns */
    pthread_mutex_lock(&second);                   /* ruleid: deadlock_patterns */
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
}

void back(void)
{
    pthread_mutex_lock(&second);                   /* ok: deadlock_patterns */
    pthread_mutex_lock(&first);                    /* ruleid: deadlock_patterns */
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
}

static int write_port(struct port *port, const u8 *data, int n)
{
    int err = 0;

    spin_lock_irqsave(&port->lock, port->flags);   /* ok: deadlock_patterns */
    if (!port->open) {
        err = -EIO;
        goto out;
    }
    copy(port, data, n);
out:
    spin_unlock_irqrestore(&port->lock, port->flags);
    return err;
}

static int read_port(struct port *port, u8 *data)
{
    int err;

    if (mutex_lock_interruptible(&port->mutex))    /* ruleid: deadlock_patterns */
        return -ERESTARTSYS;
    err = fetch(port, data);
    if (err < 0)
        goto failed;
    mutex_unlock(&port->mutex);
    return 0;
failed:
    port->errors++;
    return err;
}

static struct item *find(struct list *list, int id)
{
    struct item *item;

    rcu_read_lock();                               /* ruleid: deadlock_patterns */
    for (item = list->head; item; item = item->next)
        if (item->id == id)
            return item;
    rcu_read_unlock();
    return NULL;
}

void lock_both(struct pair *pair)
{
    pthread_mutex_lock(&pair->a);                  /* ok: deadlock_patterns */
    if (pair->single)
        return;
    pthread_mutex_lock(&pair->b);                  /* ok: deadlock_patterns */
}

void walk(struct node *node)
{
    pthread_mutex_lock(&node->mutex);              /* ok: deadlock_patterns */
    while (node->next) {
        struct node *old = node;
        node = node->next;
        pthread_mutex_lock(&node->mutex);          /* ok: deadlock_patterns */
        pthread_mutex_unlock(&old->mutex);
    }
    pthread_mutex_unlock(&node->mutex);
}

#ifdef _WIN32
void both_ways(struct box *box)
{
#if FAST
    EnterCriticalSection(&box->section);           /* ok: deadlock_patterns */
#else
    EnterCriticalSection(&box->section);           /* ok: deadlock_patterns */
#endif
    fill(box);
    LeaveCriticalSection(&box->section);
}
#endif

bool Store::set(const Key &key, const Value &value)
{
    mutex_.lock();                                 /* ruleid: deadlock_patterns */
    if (!known(key))
        return false;
    values_[key] = value;
    mutex_.unlock();
    std::unique_lock<std::mutex> held(other_, std::defer_lock);
    held.lock();                                   /* ok: deadlock_patterns */
    if (values_.empty())
        return false;
    held.unlock();
    return true;
}

bool Store::get(const Key &key)
{
    if (auto owner = owner_.lock())                /* ok: deadlock_patterns */
        return owner->get(key);
    mutex_.lock();                                 /* ok: deadlock_patterns */
    auto found = [&](int n) { return values_.count(n); }(key);
    mutex_.unlock();
    return found;
}

/* Once for all: nobody ever gives this one back. */
void forgotten (void)
{
  pthread_mutex_lock (&never);                     /* ruleid: deadlock_patterns */
  step ();
}

int choose(int kind)
{
    int n = 0;

    pthread_mutex_lock(&lock);                     /* ok: deadlock_patterns */
    switch (kind) {
    case 1:
        pthread_mutex_unlock(&lock);
        return 1;
    case 2:
        n = 2;
        break;
    }
    pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    return n;
}

/* The loop is left with return alone. */
int next_packet(struct queue *q, char *to, int waits)
{
    pthread_mutex_lock(&q->mutex);                 /* ok: deadlock_patterns */
    do {
        if (q->filled) {
            copy_out(q, to);
            pthread_mutex_unlock(&q->mutex);
            return 1;
        }
        if (!waits) {
            pthread_mutex_unlock(&q->mutex);
            return 0;
        }
        pthread_cond_wait(&q->cond, &q->mutex);
    } while (1);
    if (to == NULL)
        return -1;
    return direct(q, to);
}
