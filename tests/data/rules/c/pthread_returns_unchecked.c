static pthread_t thread;
static pthread_mutex_t lock;

int start(struct pool *pool)
{
    int error;

    pthread_mutex_init(&pool->lock, NULL);         /* ruleid: pthread_returns_unchecked */
    pthread_create(&thread, NULL, run, pool);      /* ruleid: pthread_returns_unchecked */
    error = pthread_create(&pool->thread,          /* ruleid: pthread_returns_unchecked */
                           NULL, run, pool);
    return 0;
}

int start_well(struct pool *pool)
{
    int error;

    error = pthread_mutex_init(&pool->lock, NULL); /* ok: pthread_returns_unchecked */
    if (error)
        return error;
    if ((error = pthread_create(&thread, NULL,     /* ok: pthread_returns_unchecked */
                                run, pool)) != 0)
        return error;
    (void) pthread_detach(thread);
    (void) pthread_mutex_lock(&lock);              /* ok: pthread_returns_unchecked */
    CHECK(pthread_mutex_unlock(&lock));            /* ok: pthread_returns_unchecked */
    return pthread_join(thread, NULL);             /* ok: pthread_returns_unchecked */
}

static ssize_t show(struct device *dev, char *buf)
{
    mutex_lock_interruptible(&dev->mutex);         /* ruleid: pthread_returns_unchecked */
    if (mutex_lock_interruptible(&dev->other))     /* ok: pthread_returns_unchecked */
        return -ERESTARTSYS;
    return 0;
}

void Queue::push (int value)
{
  pthread_mutex_trylock (&mutex_);                 /* ruleid: pthread_returns_unchecked */
  sem_wait /* may be woken by a signal */ (&free_); /* ruleid: pthread_returns_unchecked */
  pthread_mutex_unlock (&mutex_);                  /* ok: pthread_returns_unchecked */
  impl->pthread_create (value);                    /* ok: pthread_returns_unchecked */
}

/* What fails only by a programming error, or where nobody could do anything */
void stop(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);               /* ok: pthread_returns_unchecked */
    pool->stopped = 1;
    pthread_mutex_unlock(&pool->lock);             /* ok: pthread_returns_unchecked */
    pthread_join(pool->thread, NULL);              /* ok: pthread_returns_unchecked */
    pthread_setspecific(key, NULL);                /* ok: pthread_returns_unchecked */
    pthread_setspecific(key, pool);                /* ruleid: pthread_returns_unchecked */
    pthread_mutex_destroy(&pool->lock);            /* ok: pthread_returns_unchecked */
    pthread_cond_destroy(&pool->wake);             /* ok: pthread_returns_unchecked */
}
