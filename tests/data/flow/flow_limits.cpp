#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#define MIN(a,b) ((a) < (b) ? (a) : (b))
int *limited_minmacro(FILE *in) { int n = 0;
	if (fscanf(in, "%d", &n) != 1 || n < 1) return NULL;
	n = MIN(n, 100);
	return (int *)malloc(n * sizeof(int));
}
int *limited_stdmin(FILE *in) {
	int n = 0;
	if (fscanf(in, "%d", &n) != 1 || n < 1) return NULL;
	n = std::min(n, 100);
	return (int *)malloc(n * sizeof(int));
}
int *limited_clamp(FILE *in) {
	int n = 0;
	if (fscanf(in, "%d", &n) != 1) return NULL;
	n = std::clamp(n, 1, 100);
	return (int *)malloc(n * sizeof(int));
}
int *open_max(FILE *in) {
	int n = 0;
	if (fscanf(in, "%d", &n) != 1) return NULL;
	n = std::max(n, 100);
	return (int *)malloc(n * sizeof(int));
}
int *limited_ternary(FILE *in) {
	int n = 0;
	if (fscanf(in, "%d", &n) != 1) return NULL;
	size_t k = n < 1 ? 1 : n > 512 ? 512 : n;
	return (int *)malloc(k * sizeof(int));
}
static int lim(int n) { if (n < 1) return 1; if (n > 512) return 512; return n; }
int *limited_returns(FILE *in) {
	int n = 0;
	if (fscanf(in, "%d", &n) != 1) return NULL;
	return (int *)malloc(lim(n) * sizeof(int));
}
int *limited_div(FILE *in) {
	uint32_t w, h;
	if (fscanf(in, "%u %u", &w, &h) != 2) return NULL;
	if (w == 0 || h > 4096 / w) return NULL;
	return (int *)malloc(w * h * sizeof(int));
}
int *limited_divsize(FILE *in) {
	size_t n;
	if (fread(&n, sizeof n, 1, in) != 1) return NULL;
	if (n > SIZE_MAX / sizeof(int) / 4096) return NULL;
	return (int *)malloc(n * sizeof(int));
}
int *limited_both(FILE *in) {
	unsigned w, h;
	if (fread(&w, sizeof w, 1, in) != 1 || fread(&h, sizeof h, 1, in) != 1) return NULL;
	if (w > 4096 || h > 4096) return NULL;
	return (int *)malloc(w * h * sizeof(int));
}
int *open_both(FILE *in) {
	unsigned w, h;
	if (fread(&w, sizeof w, 1, in) != 1 || fread(&h, sizeof h, 1, in) != 1) return NULL;
	if (w > 4096) return NULL;
	return (int *)malloc(w * h * sizeof(int)); /* ruleid: flow_integer_overflow, flow_tainted_size */
}
int *limited_product64(FILE *in) {
	uint32_t w, h;
	if (fread(&w, sizeof w, 1, in) != 1 || fread(&h, sizeof h, 1, in) != 1) return NULL;
	uint64_t n = (uint64_t)w * h;
	if (n > 1u << 24) return NULL;
	return (int *)malloc(n * 4);
}
int *open_product32(FILE *in) {
	uint32_t w, h;
	if (fread(&w, sizeof w, 1, in) != 1 || fread(&h, sizeof h, 1, in) != 1) return NULL;
	uint64_t n = w * h; /* ruleid: flow_integer_overflow */
	if (n > 1u << 24) return NULL;
	int *p = (int *)malloc(n * 4);
	if (p && w && h) p[(size_t)(w - 1) * (h - 1)] = 1; /* ruleid: flow_integer_underflow */
	return p;
}
int *limited_loopcap(FILE *in) {
	unsigned n;
	if (fread(&n, sizeof n, 1, in) != 1) return NULL;
	while (n > 1000) n /= 2;
	return (int *)malloc(n * sizeof(int));
}
int *limited_mod(FILE *in) {
	unsigned n;
	if (fread(&n, sizeof n, 1, in) != 1) return NULL;
	n %= 1000;
	return (int *)malloc((n + 1) * sizeof(int));
}
int *limited_elseif(FILE *in) {
	long n; int r;
	if (fscanf(in, "%ld", &n) != 1) return NULL;
	if (n < 0) r = 0; else if (n < 500) r = n; else r = 500;
	return (int *)malloc((r + 1) * sizeof(int));
}
int *limited_switch(FILE *in) {
	int n; size_t r;
	if (fscanf(in, "%d", &n) != 1) return NULL;
	switch (n) { case 1: r = 16; break; case 2: r = 32; break; default: return NULL; }
	return (int *)malloc(r * sizeof(int));
}
static bool fits(unsigned n) { return n <= 4096; }
int *limited_pred(FILE *in) {
	unsigned n;
	if (fread(&n, sizeof n, 1, in) != 1) return NULL;
	if (!fits(n)) return NULL;
	return (int *)malloc(n * sizeof(int));
}
int *limited_assert(FILE *in) {
	unsigned n;
	if (fread(&n, sizeof n, 1, in) != 1) return NULL;
	if (n > 4096) abort();
	return (int *)malloc(n * sizeof(int));
}

