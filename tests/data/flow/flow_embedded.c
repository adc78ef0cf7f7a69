#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UART_DR (*(volatile uint32_t *)0x4000C000u)
#define FRAME_BYTES 16u
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define RELEASE(p) do { if (p) { free(p); } } while (0)
#define RETURN_IF(c, v) if (c) return (v)

typedef struct {
    uint8_t bytes[FRAME_BYTES];
    uint8_t used;
    void (*done)(void *frame);
} frame_t;

typedef enum { ST_IDLE, ST_HEAD, ST_BODY, ST_COUNT } state_t;

static uint16_t samples[8];
static const char *const state_names[ST_COUNT] = {"idle", "head", "body"};

uint8_t frame_last(void)
{
    frame_t f = {{0}, 0, NULL};
    return f.bytes[FRAME_BYTES]; /* ruleid: flow_buffer_overread */
}

void frame_fill(void)
{
    frame_t f;
    uint8_t i;
    for (i = 0; i <= FRAME_BYTES; i++)
        f.bytes[i] = (uint8_t)UART_DR; /* ruleid: flow_buffer_overflow */
    f.used = i;
}

void samples_clear(void)
{
    memset(samples, 0, 8 * sizeof(uint32_t)); /* ruleid: flow_buffer_overflow */
}

int frame_release_macro(frame_t *f)
{
    RELEASE(f);
    return f->used; /* ruleid: flow_use_after_free */
}

static void frame_free(void *frame)
{
    free(frame);
}

int frame_by_pointer(void)
{
    frame_t *f = calloc(1, sizeof *f);
    RETURN_IF(f == NULL, -1);
    f->done = frame_free;
    f->done(f);
    return f->used; /* ruleid: flow_use_after_free */
}

int release_by_variable(void)
{
    void (*drop)(void *) = free;
    char *p = malloc(4);
    if (!p)
        return -1;
    drop(p);
    return p[0]; /* ruleid: flow_use_after_free */
}

int state_step(state_t s)
{
    uint8_t left;
    switch (s) {
    case ST_IDLE: left = 2; break;
    case ST_HEAD: left = 1; break;
    case ST_BODY: break;
    default: left = 0;
    }
    return left; /* ruleid: flow_uninitialized */
}

int average_of_none(void)
{
    uint32_t sum = 0, n = 0;
    for (uint8_t i = 0; i < ARRAY_SIZE(samples); i++)
        sum += samples[i];
    return (int)(sum / n); /* ruleid: flow_divide_by_zero */
}

/* near misses */

uint8_t frame_last_byte(void)
{
    frame_t f = {{0}, 0, NULL};
    return f.bytes[FRAME_BYTES - 1u]; /* ok: flow_buffer_overread */
}

void samples_fill(void)
{
    for (uint8_t i = 0; i < ARRAY_SIZE(samples); i++)
        samples[i] = (uint16_t)UART_DR; /* ok: flow_buffer_overflow */
    memset(samples, 0, sizeof(samples)); /* ok: flow_buffer_overflow */
}

int frame_release_macro_last(frame_t *f)
{
    int used;
    RETURN_IF(f == NULL, 0);
    used = f->used; /* ok: flow_null_dereference */
    RELEASE(f); /* ok: flow_double_free */
    return used; /* ok: flow_use_after_free */
}

int frame_kept_by_pointer(void (*keep)(void *))
{
    frame_t *f = calloc(1, sizeof *f); /* ok: flow_memory_leak */
    RETURN_IF(f == NULL, -1);
    keep(f);
    return f->used; /* ok: flow_use_after_free */
}

const char *state_name(state_t s)
{
    return s < ST_COUNT ? state_names[s] : "?"; /* ok: flow_buffer_overread */
}

int state_step_whole(state_t s)
{
    uint8_t left;
    switch (s) {
    case ST_IDLE: left = 2; break;
    case ST_HEAD:
    case ST_BODY: left = 1; break;
    default: return -1;
    }
    return left; /* ok: flow_uninitialized */
}

uint32_t register_read(void)
{
    uint32_t v = UART_DR; /* ok: flow_null_dereference */
    return v & 0xffu;
}

int ring_put(uint8_t value)
{
    static uint8_t ring[32];
    static uint8_t head;
    ring[head] = value;
    head = (uint8_t)((head + 1u) % sizeof ring); /* ok: flow_integer_overflow */
    return ring[0];
}
