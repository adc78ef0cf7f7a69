#include <string.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <netinet/in.h>
struct tab { uint32_t off; uint32_t n; };
/* sums and products in a check */
int open_scaled(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t off, n;
	if (fread(&off, 4, 1, f) != 1 || fread(&n, 4, 1, f) != 1) return -1;
	if (off + 12 * n > ds) /* ruleid: flow_integer_overflow */
		return -1;
	return d[off];
}
int limited_scaled64(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t off, n;
	if (fread(&off, 4, 1, f) != 1 || fread(&n, 4, 1, f) != 1) return -1;
	if ((uint64_t)off + 12 * (uint64_t)n > ds)
		return -1;
	return d[off];
}
int limited_scaled64b(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t off, n;
	if (fread(&off, 4, 1, f) != 1 || fread(&n, 4, 1, f) != 1) return -1;
	if (off + 12ULL * n > ds)
		return -1;
	return d[off];
}
int limited_scaled_div(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t off, n;
	if (fread(&off, 4, 1, f) != 1 || fread(&n, 4, 1, f) != 1) return -1;
	if (off > ds || n > (ds - off) / 12)
		return -1;
	return d[off];
}
int limited_bounded_first(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t off, n;
	if (fread(&off, 4, 1, f) != 1 || fread(&n, 4, 1, f) != 1) return -1;
	if (n > 1000 || off > 100000) return -1;
	if (off + 12 * n > ds)
		return -1;
	return d[off];
}
int open_product(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t n;
	if (fread(&n, 4, 1, f) != 1) return -1;
	if (n * 12 > ds) /* ruleid: flow_integer_overflow */
		return -1;
	return d[n * 12 - 1];
}
int open_shift(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t n;
	if (fread(&n, 4, 1, f) != 1) return -1;
	if ((n << 4) > ds) /* ruleid: flow_integer_overflow */
		return -1;
	return d[(n << 4) - 1];
}
int open_minus_one(const unsigned char *d, uint32_t ds, FILE *f)
{
	uint32_t base, length;
	if (fread(&base, 4, 1, f) != 1 || fread(&length, 4, 1, f) != 1) return -1;
	if (base + length - 1 > ds) /* ruleid: flow_integer_overflow, flow_integer_underflow */
		return -1;
	return d[base];
}
/* from parameters, two sizes of a wire */
int open_ge_cap(struct tab *t, char *buf, uint32_t cap, const unsigned char *p)
{
	uint32_t len = ntohl(*(const uint32_t *)p);
	if (t->n + len >= cap) /* ruleid: flow_integer_overflow */
		return -1;
	memcpy(buf + t->n, p + 4, len);
	return 0;
}
int open_ptr_sum(const unsigned char *p, const unsigned char *end)
{
	uint32_t n = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	uint32_t k = 4;
	if (k + n > (uint32_t)(end - p)) /* ruleid: flow_integer_overflow */
		return -1;
	return p[k + n - 1];
}
int limited_ptr_sum(const unsigned char *p, const unsigned char *end)
{
	uint32_t n = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	size_t k = 4;
	if (k + n > (size_t)(end - p))
		return -1;
	return p[k + n - 1];
}
int open_alloc_mul(FILE *f)
{
	uint32_t n;
	if (fread(&n, 4, 1, f) != 1) return -1;
	if (n > 0x40000000) return -1;
	uint32_t *v = malloc(n * 4 + 1); /* ruleid: flow_integer_overflow */
	if (!v) return -1;
	for (uint32_t i = 0; i < n; i++) v[i] = i;
	free(v);
	return 0;
}
int limited_alloc_mul(FILE *f)
{
	uint32_t n;
	if (fread(&n, 4, 1, f) != 1) return -1;
	if (n > 0x10000) return -1;
	uint32_t *v = malloc(n * 4 + 1);
	if (!v) return -1;
	for (uint32_t i = 0; i < n; i++) v[i] = i;
	free(v);
	return 0;
}

