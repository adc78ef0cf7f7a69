/* The main function around a fuzz target: passes the content of the file `input` to it once. */
#include <stdio.h>
#include <stdlib.h>

extern int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
extern int LLVMFuzzerInitialize(int *count, char ***words) __attribute__((weak));

int main(int count, char **words)
{
    FILE *file = fopen("input", "rb");
    unsigned char *data, *exact;
    unsigned long size;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&count, &words);
    if (!file)
        return 2;
    data = malloc(1 << 24);
    size = fread(data, 1, 1 << 24, file);
    fclose(file);
    exact = malloc(size ? size : 1);
    for (unsigned long at = 0; at < size; at++)
        exact[at] = data[at];
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}
