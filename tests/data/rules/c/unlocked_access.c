#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t names_access;
static DEFINE_SPINLOCK(ring_lock);
pthread_mutex_t shared_mutex;
static int jobs;
static unsigned long total;
static struct item *head;
static size_t names_count = 0;
static unsigned int ring_at;
static int level, depth;
static long sent, ignored;
static char *last_name = NULL;
static volatile int stopped;
static const char *title;
static atomic_int hits;
static int in_use;
static int passed;
static int chosen;
static int counted;
static int guarded;
static int borrowed;

void add_job(struct item *item)
{
    pthread_mutex_lock(&mutex);
    jobs++;
    total += item->size;
    item->next = head;
    head = item;
    last_name = item->name;
    hits = 1;
    title = item->name;
    in_use++;
    passed++;
    counted++;
    guarded++;
    borrowed++;
    pthread_mutex_unlock(&mutex);
}

struct item *take_job(void)
{
    struct item *item;
    pthread_mutex_lock(&mutex);
    if (head == NULL) {
        pthread_mutex_unlock(&mutex);
        return NULL;
    }
    item = head;
    head = item->next;
    jobs--;
    total -= item->size;
    last_name = NULL;
    hits = 0;
    in_use--;
    passed--;
    counted--;
    guarded--;
    borrowed--;
    pthread_mutex_unlock(&mutex);
    return item;
}

void drop_jobs(void)
{
    jobs = 0; /* ruleid: unlocked_access */
    send_event("dropped");
}

void count_bytes(unsigned long bytes)
{
    if (bytes > 0)
        total += bytes; /* ruleid: unlocked_access */
}

void push_front(struct item *item)
{
    item->next = head;
    head = item; /* ruleid: unlocked_access */
}

static void forget_name(void)
{
    last_name = NULL; /* ruleid: unlocked_access */
}

void on_rename(struct item *item)
{
    item->name = NULL;
    forget_name();
}

void add_name(const char *name)
{
    pthread_rwlock_wrlock(&names_access);
    names[names_count] = name;
    names_count++;
    pthread_rwlock_unlock(&names_access);
}

void remove_name(void)
{
    pthread_rwlock_wrlock(&names_access);
    --names_count;
    pthread_rwlock_unlock(&names_access);
}

void forget_names(void)
{
    names_count = 0; /* ruleid: unlocked_access */
}

void put(int value)
{
    unsigned long flags;
    spin_lock_irqsave(&ring_lock, flags);
    ring[ring_at] = value;
    ring_at = (ring_at + 1) % RING;
    spin_unlock_irqrestore(&ring_lock, flags);
}

int get(void)
{
    unsigned long flags;
    spin_lock_irqsave(&ring_lock, flags);
    ring_at = (ring_at - 1) % RING;
    spin_unlock_irqrestore(&ring_lock, flags);
    return ring[ring_at];
}

void rewind_ring(void)
{
    ring_at -= 1; /* ruleid: unlocked_access */
}

void raise_level(void)
{
    pthread_mutex_lock(&mutex);
    level++, depth++;
    pthread_mutex_unlock(&mutex);
}

void lower_level(void)
{
    pthread_mutex_lock(&mutex);
    level--, depth--;
    pthread_mutex_unlock(&mutex);
}

void set_level(int value)
{
    level = value; /* ruleid: unlocked_access */
}

int enter(int by)
{
    depth += by; /* ruleid: unlocked_access */
    return depth;
}

/* Whoever calls this holds the mutex. */
static void recount(void)
{
    in_use = 0; /* ok: unlocked_access */
}

static void pass_one(void)
{
    passed = 0; /* ok: unlocked_access */
}

void pass_all(void)
{
    pthread_mutex_lock(&mutex);
    pass_one();
    pthread_mutex_unlock(&mutex);
}

static void count_again(void)
{
    counted = 0; /* ok: unlocked_access */
}

static void count_all(void)
{
    count_again();
}

void recount_all(void)
{
    pthread_mutex_lock(&mutex);
    count_all();
    pthread_mutex_unlock(&mutex);
}

void init_jobs(void)
{
    jobs = 0; /* ok: unlocked_access */
    total = 0; /* ok: unlocked_access */
}

static void zero(void)
{
    in_use = 0; /* ok: unlocked_access */
}

int main(void)
{
    pthread_t thread;
    zero();
    guarded = 1; /* ok: unlocked_access */
    pthread_create(&thread, NULL, run, NULL);
    return pthread_join(thread, NULL);
}

void change_guarded(void)
{
    acquire_lock();
    guarded = 2; /* ok: unlocked_access */
    release_lock();
}

void name_of(struct item *item)
{
    const char *title = item->name;
    show(title);
    title = NULL; /* ok: unlocked_access */
}

void on_hit(void)
{
    hits = 2; /* ok: unlocked_access */
}

void choose(int value)
{
    chosen = value; /* ok: unlocked_access */
}

void choose_again(void)
{
    pthread_mutex_lock(&mutex);
    chosen = 0;
    pthread_mutex_unlock(&mutex);
}

void on_signal(int signal)
{
    stopped = signal; /* ok: unlocked_access */
}

void borrow_locked(void)
{
    borrowed++; /* ok: unlocked_access */
}

void add_sent(void)
{
    pthread_mutex_lock(&shared_mutex);
    sent++;
    pthread_mutex_unlock(&shared_mutex);
}

void drop_sent(void)
{
    pthread_mutex_lock(&shared_mutex);
    sent--;
    pthread_mutex_unlock(&shared_mutex);
}

/* Callers elsewhere can hold a mutex that is not static. */
void set_sent(long value)
{
    sent = value; /* ok: unlocked_access */
}
