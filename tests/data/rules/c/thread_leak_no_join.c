static pthread_t background;

int answer(struct request *request)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, request) != 0) /* ruleid: thread_leak_no_join */
        return -1;
    return 0;
}

int answer_well(struct request *request)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, request)) /* ok: thread_leak_no_join */
        return -1;
    wait_until_done(thread);
    return 0;
}

void start_background(struct pool *pool)
{
    pthread_create(&background, 0, tick, NULL);    /* ruleid: thread_leak_no_join */
    pthread_create(&pool->threads[pool->count++],  /* ruleid: thread_leak_no_join */
                   NULL, work, pool);
}

/* GNU style */
int
main (int argc, char **argv)
{
  pthread_t t1, t2;
  pthread_create (&t1, NULL, work, NULL);          /* ok: thread_leak_no_join */
  pthread_create (&t2, /* default */ NULL,         /* ruleid: thread_leak_no_join */
                  work, NULL);
  watch (t1);
  return 0;
}

void Server::start()
{
    std::thread worker(run, this);                 /* ruleid: thread_leak_no_join */
    std::thread reader([this] { read(); });        /* ok: thread_leak_no_join */
    std::thread writer{run, this};                 /* ok: thread_leak_no_join */
    reader.detach();
    threads_.push_back(std::move(writer));
    std::thread(run, this).detach();               /* ok: thread_leak_no_join */
    pool.pthread_create(&other_, NULL, run, this); /* ok: thread_leak_no_join */
}

std::thread make_thread(int n);                    /* ok: thread_leak_no_join */

void c11(struct job *job)
{
    thrd_t handle;
    thrd_create(&handle, run, job);                /* ruleid: thread_leak_no_join */
}
