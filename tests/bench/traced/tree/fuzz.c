#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return d[0] == 1 && n; }
