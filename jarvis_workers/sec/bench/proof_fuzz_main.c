/* The main function around a fuzz target: passes the content of a file to it once, that of the first argument that is no
 * option, or else of `input`. */
#include <stdio.h>
#include <stdlib.h>

extern int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
extern int LLVMFuzzerInitialize(int *count, char ***words) __attribute__((weak));

int main(int count, char **words)
{
    const char *name = "input";
    unsigned char *data, *exact;
    unsigned long size;
    FILE *file;
    for (int at = 1; at < count; at++)
        if (words[at][0] != '-') {
            name = words[at];
            break;
        }
    file = fopen(name, "rb");
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
