#include <stdio.h>
#include <string.h>

#define LENGTHS_CHECKED_BY_CALLER 1

struct window {
    char name_of_at_most_20_characters[64];
    char label[32];
};

static void set_title_already_bounded(struct window *window, const char *title)
{
    sprintf(window->label, "%s: %s", window->name_of_at_most_20_characters, title);
}

int main(int argc, char **argv)
{
    struct window window;

    if (argc < 3)
        return 1;
    snprintf(window.name_of_at_most_20_characters, sizeof window.name_of_at_most_20_characters, "%s", argv[1]);
    set_title_already_bounded(&window, argv[2]);
    printf("%s (titolo controllato: nessun rischio, falso positivo)\n", window.label);
    return 0;
}
