void take_one(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);   /* ruleid: cond_wait_no_loop */
    q->count--;
    pthread_mutex_unlock(&q->lock);
}

void take_well(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);   /* ok: cond_wait_no_loop */
    while (q->paused) {
        if (pthread_cond_timedwait(&q->filled,     /* ok: cond_wait_no_loop */
                                   &q->lock, &q->until) == ETIMEDOUT)
            break;
    }
    for (; q->held > 0; )
        pthread_cond_wait(&q->filled, &q->lock);   /* ok: cond_wait_no_loop */
    do {
        cnd_wait(&q->other, &q->mutex);            /* ok: cond_wait_no_loop */
    } while (!q->open);
    q->count--;
    pthread_mutex_unlock(&q->lock);
}

/* GNU style */
static void *
worker (void *data)
{
  struct queue *q = data;

  g_mutex_lock (&q->lock);
  g_cond_wait (&q->cond,                           /* ruleid: cond_wait_no_loop */
               &q->lock);
  for (;;)
    {
      if (empty (q))
        {
          pthread_cond_wait (&q->filled, &q->lock); /* ok: cond_wait_no_loop */
          continue;
        }
      step (q);
    }
}

void *consumer(void *data)
{
    struct queue *q = data;

    while (1) {
        pthread_mutex_lock(&q->lock);
        if (!q->first)
            pthread_cond_wait(&q->filled, &q->lock); /* ruleid: cond_wait_no_loop */
        use(q->first);
        pthread_mutex_unlock(&q->lock);
    }
}

void wait_for(cond_t *condition, mutex_t *mutex)
{
    SleepConditionVariableCS(condition, mutex, 9); /* ok: cond_wait_no_loop */
}

void Queue::take()
{
    std::unique_lock<std::mutex> held(mutex_);
    filled_.wait(held);                            /* ruleid: cond_wait_no_loop */
    filled_.wait(held, [&] { return !empty(); });  /* ok: cond_wait_no_loop */
    while (empty())
        filled_.wait(held);                        /* ok: cond_wait_no_loop */
    process.wait(seconds);                         /* ok: cond_wait_no_loop */
    if (closing_) {
        closed_->wait(held);                       /* ruleid: cond_wait_no_loop */
    }
}

int again_and_again(struct queue *q)
{
again:
    if (!q->first) {
        pthread_cond_wait(&q->filled, &lock);      /* ok: cond_wait_no_loop */
        goto again;
    }
    return 0;
}

void tests_in_an_endless_loop(struct queue *q)
{
    for (;;) {
        if (q->first)
            break;
        pthread_cond_wait(&q->filled, &lock);      /* ok: cond_wait_no_loop */
    }
    while (1) {
        pthread_cond_wait(&q->filled, &lock);      /* ok: cond_wait_no_loop */
        if (q->first) {
            q->length--;
            return;
        }
    }
}

void waits_in_one_branch(struct queue *q)
{
    for (;;) {
        if (!q->first)
            pthread_cond_wait(&q->filled, &lock);  /* ok: cond_wait_no_loop */
        else
            use(q->first);
    }
}
