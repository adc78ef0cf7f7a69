/* The first output of a file that notices no failure is reported if this file opens the stream. */
#include <stdio.h>

void trace(FILE *given, int code)
{
    fprintf(given, "code %d\n", code);             /* ok: output_unchecked */
}

int main(int argc, char **argv)
{
    FILE *out = stdout;
    struct plot plot = {0};

    printf("plotting\n");                          /* ok: output_unchecked */
    fprintf(out, "%d points\n", argc);             /* ok: output_unchecked */
    plot.file = fopen(argv[1], "w");
    return draw(&plot);
}

int draw(struct plot *plot)
{
    fprintf(plot->file, "%d\n", plot->size);       /* ruleid: output_unchecked */
    fprintf(plot->file, "end\n");                  /* ok: output_unchecked */
    fclose(plot->file);
    return 0;
}
