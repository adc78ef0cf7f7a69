#include <stdio.h>
#include <string.h>

struct window {
    char name[64];
    char label[32];
};

static void set_title(struct window *window, const char *title)
{
    sprintf(window->label, "%s: %s", window->name, title);
}

int main(int argc, char **argv)
{
    struct window window;

    if (argc < 3)
        return 1;
    snprintf(window.name, sizeof window.name, "%s", argv[1]);
    set_title(&window, argv[2]);
    puts(window.label);
    return 0;
}
