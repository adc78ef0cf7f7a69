#include "constructs.h"
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t mixed_values;

uint64_t mix(uint64_t hash, uint64_t value)
{
    int left = 8;
    mixed_values++;
    while (left-- > 0) {
        hash ^= value & 255;
        hash *= 1099511628211u;
        value >>= 8;
    }
    return hash;
}

#define MIX(...) (hash = mix(hash, (uint64_t)(int64_t)(__VA_ARGS__)))
#define START uint64_t hash = 14695981039346656037u

static int calls;
static int next_call(void) { return ++calls; }
static int identity(int n) { return n; }

static uint64_t check_arithmetic(void)
{
    START;
    static const int values[] = { 0, 1, -1, 7, -13, 1000003, INT_MAX, INT_MIN + 1 };
    for (int i = 0; i < (int)(sizeof values / sizeof *values); i++)
        for (unsigned j = 0; j < sizeof values / sizeof values[0]; j++) {
            int a = values[i], b = values[j];
            unsigned u = (unsigned)a, v = b;
            long long l = a;
            unsigned char c = (unsigned char)a;
            signed char s = (signed char)b;
            short h = (short)(a ^ b);
            MIX((unsigned)a + (unsigned)b), MIX(u - v), MIX(u * v), MIX(l * b), MIX(-u), MIX(~a), MIX(!a);
            if (b)
                MIX(a / b), MIX(a % b), MIX(u / v), MIX(u % v), MIX(l / b);
            MIX(u << (v & 31)), MIX(u >> (v & 31)), MIX(a >> (j & 15)), MIX(1u << 31), MIX(l >> 3);
            MIX(c + s), MIX(c - h), MIX(c << 3), MIX(s >> 1), MIX(h * c), MIX(c & s), MIX(c ^ h), MIX(s | h);
            MIX(a < b), MIX(u < v), MIX(a < 0 ? u : v), MIX(c < s), MIX(-1 < (int)u), MIX(sizeof(char) > -1);
            MIX(a == b || u > 3 && v < 5), MIX((a && b) + (a || b)), MIX('a' + c), MIX('\377'), MIX(L'\x1234');
        }
    return hash;
}

static uint64_t check_floats(void)
{
    START;
    float f = 0.1f, g;
    double d = 1e300, e = -2.5;
    int i = 7;
    g = f + i;
    f += 1.5;
    i += 2.75;
    i *= 1.5f;
    MIX(f * 1000), MIX(g * 1000), MIX(i), MIX((int)e), MIX((unsigned char)200.7), MIX((long long)(d / 1e290)), MIX(d > 1);
    MIX(d * 10 > HUGE_VAL), MIX(isnan(NAN)), MIX(isinf(-INFINITY) != 0), MIX(NAN == NAN), MIX((float)0.1 == 0.1);
    MIX(!e), MIX(e ? 1 : 2), MIX((_Bool)0.5), MIX(fabs(e) * 4), MIX(sqrt(2) * 1e9), MIX(e++ * 2), MIX(--e * 2), MIX(-e * 2);
    MIX(signbit(-0.0) != 0), MIX(0x1.8p3), MIX(.5e1f), MIX(i / 2.0 * 8);
    MIX(fpclassify(d) == FP_NORMAL), MIX(fpclassify(0.0 * i) == FP_ZERO), MIX(fpclassify(f / 0) == FP_INFINITE);
    return hash;
}

static uint64_t check_assignments(void)
{
    START;
    int a, b, c, array[4] = { 1, 2, 3, 4 }, *p = array;
    unsigned char u = 250;
    short s;
    _Bool flag = 0;
    a = b = c = 5;
    a += b -= c *= 2;
    MIX(a), MIX(b), MIX(c);
    *p++ += 10;
    *++p -= 1;
    array[next_call() & 1] *= 7;
    MIX(p - array), MIX(array[0]), MIX(array[1]), MIX(array[2]);
    u += 10;
    MIX(u), MIX(u -= 5), MIX(u <<= 1), MIX(u++), MIX(--u), MIX(u ^= 0xf0), MIX(u %= 7), MIX(u |= 256);
    s = a = 100000;
    MIX(s), MIX(s /= 3), MIX(s >>= 2);
    flag++;
    MIX(flag), MIX(flag--), MIX(flag), MIX(flag += 2), MIX(flag &= 2), MIX(flag = 8);
    MIX((a = 3, b = a + 1, a * b)), MIX(a ? b ? 1 : 2 : 3), MIX(a ?: 9), MIX((c = 0) ?: 9), MIX(next_call() ?: 5);
    *(a > 2 ? &b : &c) = 77;
    MIX(b), MIX((b = 4) + b), MIX(p[-1]), MIX(1 [array]), MIX(*(array + 3)), MIX(&array[3] - p), MIX(p > array);
    for (p = array + 4; p-- > array;)
        MIX(*p);
    a = 1;
    if ((a = next_call()) > 2 && next_call() || a++)
        MIX(a);
    identity(a), (void)next_call();
    a && next_call();
    a || next_call();
    a ? next_call() : identity(2);
    MIX(calls), calls = 0;
    return hash;
}

static const char *const words[] = { "one", "two\0hidden", "th\"r\\ee\n", "\xff\177", [5] = "six" };

static uint64_t check_strings(void)
{
    START;
    char text[8] = "ab", whole[3] = "xyz", long_text[200] = "long";
    unsigned char bytes[] = "bytes";
    int wide[] = L"w\u00e9";
    const int *literal = L"wide";
    const char *s = "pointer" + 2;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        MIX(words[i] ? strlen(words[i]) + (unsigned char)words[i][0] : 0);
    MIX(text[1]), MIX(text[7]), MIX(whole[2]), MIX(long_text[3] + long_text[199]), MIX(sizeof bytes), MIX(bytes[4]);
    MIX(sizeof wide), MIX(wide[1]), MIX(literal[3]), MIX(s[0]), MIX("abc"[1]), MIX(*"x"), MIX(sizeof "four" "teen");
    MIX(strcmp(__func__, "check_strings")), MIX(memcmp(words[1], "two\0hid", 7)), MIX((words[3][0])), MIX("\303\251"[0]);
    memcpy(text, "copied!", sizeof text);
    MIX(text[6]), MIX(strchr(text, 'i') - text);
    return hash;
}

typedef int binary(int, int);
static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static binary *const operations[] = { add, &subtract, 0 };
static int apply(binary operation, int a, int b) { return operation ? (*operation)(a, b) : -1; }
static int old_style(a, b, f) int a; char b; float f; { return a * 2 + b + (int)f; }
static binary *choose(int n) { return n ? add : subtract; }
static int compare(const void *a, const void *b) { return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b; }
static int sum_of(const int values[], int count, int matrix[][2])
{
    int sum = 0;
    while (count--)
        sum += values[count] * matrix[count & 1][1];
    return sum;
}

static uint64_t check_functions(void)
{
    START;
    int undeclared_arguments();
    int numbers[] = { 5, -3, 9, 0, 2 }, matrix[2][2] = { { 1, 2 }, { 3, 4 } };
    binary *f = add;
    for (int i = 0; i < 3; i++)
        MIX(apply(operations[i], 7, i));
    MIX(f == add), MIX(f != subtract), MIX(!f), MIX(choose(0)(9, 4)), MIX((**f)(1, 2)), MIX((f = choose(0)) != 0);
    MIX(old_style(3, 'c', 2.5)), MIX(undeclared_arguments(1, 2.5, "three")), MIX(sum_of(numbers, 5, matrix));
    qsort(numbers, 5, sizeof *numbers, compare);
    for (int i = 0; i < 5; i++)
        MIX(numbers[i]);
    f = NULL;
    MIX(f ? 1 : 2), MIX((uintptr_t)f), MIX(matrix[1] - matrix[0]), MIX((*(matrix + 1))[0]), MIX(abs(-4)), MIX(labs(-5L));
    return hash;
}

int undeclared_arguments(int a, double b, const char *c) { return a + (int)(b * 2) + c[2]; }

#define MAXIMUM(a, b) ({ __typeof__(a) first_ = (a), second_ = (b); first_ > second_ ? first_ : second_; })

static uint64_t check_extensions(void)
{
    START;
    int n = 3, result;
    long big;
    uint64_t huge;
    MIX(MAXIMUM(n++, 2)), MIX(n), MIX(({ int total = 0; for (int i = 0; i < n; i++) { if (i == 2) continue; total += i; } total; }));
    assert(n > 0 && "positive");
    if (__builtin_expect(n > 2, 1))
        MIX(__builtin_expect(n, 4));
    MIX(__builtin_clz(n)), MIX(__builtin_ctzll(96)), MIX(__builtin_popcountl(255)), MIX(__builtin_bswap32(0x12345678));
    MIX(__builtin_ffs(8)), MIX(__builtin_parity(7)), MIX(__builtin_constant_p(3)), MIX(__builtin_bswap16(0x1234));
    MIX(__builtin_add_overflow(INT_MAX, n, &result)), MIX(result), MIX(__builtin_mul_overflow(3, n, &big)), MIX(big);
    MIX(__builtin_sub_overflow(n, 5u, &huge)), MIX(huge), MIX(__builtin_smul_overflow(1 << 20, 1 << 20, &result));
    MIX(__builtin_strlen("builtin")), MIX(__builtin_object_size(&n, 0) == (size_t)-1 || 1), MIX(__builtin_offsetof(struct shape, radius));
    MIX(_Generic(n, int: 1, default: 2)), MIX(_Alignof(double)), MIX(sizeof(struct shape[2]));
    result = __builtin_choose_expr(1, n, "no");
    MIX(result);
    MIX(__builtin_isgreater(2.0, 1.0)), MIX(__extension__(unsigned char)n), MIX(__builtin_types_compatible_p(int, long));
    if (n < 0)
        __builtin_unreachable();
    return hash;
}

static volatile int signalled;
static volatile struct { int level; } device;

static uint64_t check_volatile(void)
{
    START;
    volatile int *where = &signalled;
    volatile unsigned char byte = 250;
    signalled = 3;
    *where += 4;
    where[0]++;
    byte += 10;
    device.level = signalled--;
    (void)*where;
    MIX(signalled), MIX(device.level), MIX(byte), MIX(*where = 9), MIX(where == &signalled);
    return hash;
}

const check expression_checks[] = {
    { "arithmetic", check_arithmetic }, { "floats", check_floats },       { "assignments", check_assignments },
    { "strings", check_strings },       { "functions", check_functions }, { "extensions", check_extensions },
    { "volatile", check_volatile },     { NULL, NULL },
};
