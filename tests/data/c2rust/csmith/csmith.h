/* What programs of csmith call: arithmetic without undefined behaviour, and a checksum of the global variables. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPING(T, NAME, OPERATION, WORD) \
    static T safe_##NAME##_func_##WORD(T left, T right) \
    { \
        T result; \
        return __builtin_##NAME##_overflow(left, right, &result) ? left : result; \
    }
#define SHIFTS(T, WORD, RIGHT, R) \
    static T safe_lshift_func_##WORD##_##R(T left, RIGHT right) \
    { \
        return left < 0 || (int)right < 0 || (unsigned)right >= sizeof(T) * 8 || (sizeof(T) >= 4 && left > (T)(((T)-1 > 0 ? ~(uint64_t)0 : ~(uint64_t)0 >> 1) >> (64 - sizeof(T) * 8) >> right)) \
                   ? left \
                   : (T)(left << right); \
    } \
    static T safe_rshift_func_##WORD##_##R(T left, RIGHT right) \
    { \
        return left < 0 || (int)right < 0 || (unsigned)right >= sizeof(T) * 8 ? left : left >> right; \
    }
#define ARITHMETIC(T, WORD, S) \
    WRAPPING(T, add, +, WORD##_##S##_##S) \
    WRAPPING(T, sub, -, WORD##_##S##_##S) \
    WRAPPING(T, mul, *, WORD##_##S##_##S) \
    static T safe_div_func_##WORD##_##S##_##S(T left, T right) \
    { \
        return right == 0 || ((T)-1 < 0 && left < 0 && right == (T)-1) ? left : left / right; \
    } \
    static T safe_mod_func_##WORD##_##S##_##S(T left, T right) \
    { \
        return right == 0 || ((T)-1 < 0 && left < 0 && right == (T)-1) ? left : left % right; \
    } \
    static T safe_unary_minus_func_##WORD##_##S(T only) \
    { \
        T result; \
        return (T)-1 > 0 ? -only : __builtin_sub_overflow((T)0, only, &result) ? only : result; \
    } \
    SHIFTS(T, WORD, int, S##_s) \
    SHIFTS(T, WORD, unsigned, S##_u)
#define FLOATING(T) \
    static T safe_add_func_##T##_f_f(T left, T right) { return left / 2 + right / 2; } \
    static T safe_sub_func_##T##_f_f(T left, T right) { return left / 2 - right / 2; } \
    static T safe_mul_func_##T##_f_f(T left, T right) { return left > 1e9f || right > 1e9f ? left : left * right; } \
    static T safe_div_func_##T##_f_f(T left, T right) { return right > 1 ? left / right : left; } \
    static int32_t safe_convert_func_##T##_to_int32_t(T only) \
    { \
        return only <= -2e9f || only >= 2e9f || only != only ? 1 : (int32_t)only; \
    }

ARITHMETIC(int8_t, int8_t, s)
ARITHMETIC(int16_t, int16_t, s)
ARITHMETIC(int32_t, int32_t, s)
ARITHMETIC(int64_t, int64_t, s)
ARITHMETIC(uint8_t, uint8_t, u)
ARITHMETIC(uint16_t, uint16_t, u)
ARITHMETIC(uint32_t, uint32_t, u)
ARITHMETIC(uint64_t, uint64_t, u)
FLOATING(float)
FLOATING(double)

static uint32_t crc32_table[256], crc32_context = 0xFFFFFFFFu;

static void crc32_gentab(void)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int j = 8; j > 0; j--)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        crc32_table[i] = crc;
    }
}

static void transparent_crc(uint64_t value, const char *name, int shown)
{
    for (unsigned i = 0; i < 64; i += 8)
        crc32_context = crc32_context >> 8 ^ crc32_table[(crc32_context ^ value >> i) & 0xFF];
    if (shown)
        printf("...checksum after hashing %s : %X\n", name, crc32_context ^ 0xFFFFFFFFu);
}

static void transparent_crc_bytes(char *bytes, int count, const char *name, int shown)
{
    for (int i = 0; i < count; i++)
        crc32_context = crc32_context >> 8 ^ crc32_table[(crc32_context ^ bytes[i]) & 0xFF];
    if (shown)
        printf("...checksum after hashing %s : %X\n", name, crc32_context ^ 0xFFFFFFFFu);
}

static void platform_main_begin(void) {}

static void platform_main_end(uint32_t crc, int shown)
{
    (void)shown;
    printf("checksum = %X\n", crc);
}
