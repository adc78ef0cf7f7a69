#include <pthread.h>
#include <time.h>

void years(time_t a, time_t b)
{
    struct tm *start = localtime(&a);              /* ruleid: time_apis_not_threadsafe */
    struct tm *end = gmtime(&b);                   /* ruleid: time_apis_not_threadsafe */
    printf("%d\n", end->tm_year - start->tm_year);
}

void
show (time_t from, time_t to)
{
  printf ("%s%s", ctime (&from), ctime (&to));     /* ruleid: time_apis_not_threadsafe */
}

const char *stamp(void)
{
    time_t now = time(NULL);
    struct tm parts = *std::gmtime(&now);          /* ruleid: time_apis_not_threadsafe */
    return asctime(                                /* ruleid: time_apis_not_threadsafe */
        &parts);
}

class Clock {
    int hour() {
        auto *parts = std::localtime(&seconds_);   /* ruleid: time_apis_not_threadsafe */
        return parts->tm_hour;
    }
    std::tm *gmtime(const time_t *seconds);        /* ok: time_apis_not_threadsafe */
};

void own_buffer(time_t now)
{
    struct tm parts;
    char text[64];
    localtime_r(&now, &parts);                     /* ok: time_apis_not_threadsafe */
    gmtime_s(&parts, &now);                        /* ok: time_apis_not_threadsafe */
    strftime(text, sizeof text, "%F", &parts);     /* ok: time_apis_not_threadsafe */
}

struct tm *wrapped(const time_t *seconds, struct tm *parts)
{
#if HAVE_LOCALTIME_R
    return localtime_r(seconds, parts);
#else
    struct tm *found = localtime(seconds);         /* ok: time_apis_not_threadsafe */
    *parts = *found;
    return parts;
#endif
}

void others(struct clock *clock, time_t now)
{
    clock->localtime(&now);                        /* ok: time_apis_not_threadsafe */
    rtc_ctime(&now);                               /* ok: time_apis_not_threadsafe */
    puts("ctime(&now)");                           /* ok: time_apis_not_threadsafe */
}
