#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct entry {
    struct entry *next;
    char *text;
};

static void drop_all(struct entry *head)
{
    struct entry *entry;

    for (entry = head; entry != NULL; entry = entry->next) {
        free(entry->text);
        free(entry);
    }
}

int main(int argc, char **argv)
{
    struct entry *head = NULL;
    int i;

    for (i = 1; i < argc; i++) {
        struct entry *entry = malloc(sizeof *entry);
        if (entry == NULL)
            return 1;
        entry->text = strdup(argv[i]);
        entry->next = head;
        head = entry;
    }
    drop_all(head);
    return 0;
}
