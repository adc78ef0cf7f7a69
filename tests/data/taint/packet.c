#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERY(db, text) run_query(db, text)
#define NEXT_WORD(cursor, out) do { (out) = *(cursor)++; } while (0)
#define FORMAT_MAX 64

struct db;
struct user {
    char *name;
    char *clean;
    int id;
};
static int recheck(const char *text);

void buffer_filled(struct db *db)
{
    char name[64];
    run_query(db, name); // ok: packet_query
    read_packet(name, sizeof(name));
    run_query(db, name); // ruleid: packet_query
}

void value_returned(struct db *db)
{
    char *name = get_param("name");
    // ruleid: packet_query
    run_query(db, name);
    run_query(name, "SELECT 1"); // ok: packet_query
}

void text_formatted(struct db *db)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT * FROM t WHERE name = '%s'", get_param("name"));
    run_query(db, sql); // ruleid: packet_query
    snprintf(sql, sizeof(sql), "SELECT * FROM t");
    run_query(db, sql); // ok: packet_query
}

void text_copied(struct db *db)
{
    char *copy = strdup(get_param("name"));
    char buffer[64];
    memcpy(buffer, copy, sizeof(buffer));
    run_query(db, strchr(buffer, '=') + 1); // ruleid: packet_query
    memset(buffer, 0, sizeof(buffer));
    run_query(db, buffer); // ok: packet_query
}

void number_computed(struct db *db)
{
    char sql[64];
    int id = atoi(get_param("id")) * 2 + 1;
    sprintf(sql, "SELECT * FROM t WHERE id = %d", id);
    run_query(db, sql); // ruleid: packet_query
}

void known_number(struct db *db)
{
    int id = get_param("id");
    if (id == 7)
        run_query(db, id); // ok: packet_query
    run_query(db, id); // ruleid: packet_query
}

void escaped(struct db *db)
{
    char *name = escape_sql(get_param("name"));
    run_query(db, name); // ok: packet_query
}

void escaped_in_place(struct db *db)
{
    char name[64];
    read_packet(name, sizeof(name));
    strip_quotes(name, "'");
    run_query(db, name); // ok: packet_query
}

void checked(struct db *db)
{
    char *name = get_param("name");
    if (is_name(name))
        run_query(db, name); // ok: packet_query
    else
        run_query(db, name); // ruleid: packet_query
}

void checked_first(struct db *db)
{
    char *name = get_param("name");
    if (name == NULL || !is_name(name))
        return;
    run_query(db, name); // ok: packet_query
}

void checked_for_the_opposite(struct db *db)
{
    char *name = get_param("name");
    if (has_quotes(name)) {
        run_query(db, name); // ruleid: packet_query
        return;
    }
    run_query(db, name); // ok: packet_query
}

int check_result_stored(struct db *db)
{
    char *name = get_param("name");
    int error = verify(name, FORMAT_MAX);
    if (error != 0)
        return error;
    run_query(db, name); // ok: packet_query
    return 0;
}

int check_result_misread(struct db *db)
{
    char *name = get_param("name");
    if (verify(name, FORMAT_MAX) < 0)
        return -1;
    run_query(db, name); // ruleid: packet_query
    return 0;
}

void other_value_checked(struct db *db)
{
    char *name = get_param("name"), *other = get_param("other");
    if (!is_name(other))
        return;
    run_query(db, name); // ruleid: packet_query
    run_query(db, other); // ok: packet_query
}

void overwritten(struct db *db)
{
    char *name = get_param("name");
    name = "nobody";
    run_query(db, name); // ok: packet_query
}

void read_again(struct db *db, FILE *file)
{
    char name[64];
    read_packet(name, sizeof(name));
    fgets(name, sizeof(name), file);
    run_query(db, name); // ok: packet_query
}

void field_of_struct(struct db *db)
{
    struct user user;
    read_packet(&user, sizeof(user));
    run_query(db, user.name); // ruleid: packet_query
    user.name = "nobody";
    run_query(db, user.name); // ok: packet_query
}

static void store(struct db *db, struct user *user)
{
    run_query(db, user->clean); // ok: packet_query
    run_query(db, user->name); // ruleid: packet_query
}

void through_a_struct(struct db *db, struct user *user)
{
    user->name = get_param("name");
    user->clean = escape_sql(user->name);
    store(db, user);
}

void element_of_array(struct db *db)
{
    char *words[2];
    words[0] = "users";
    words[1] = get_param("name");
    run_all(db, words); // ruleid: packet_query
    run_query(db, words[0]); // ok: packet_query
}

static char *fetch(int number)
{
    return get_param("name", number);
}

static void look_up(struct db *db, const char *name)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "SELECT * FROM t WHERE name = '%s'", name);
    run_query(db, sql); // ruleid: packet_query
}

void through_both(struct db *db)
{
    look_up(db, fetch(1));
}

void propagated(struct db *db, struct text *text)
{
    join_text(text, get_param("name"));
    run_query(db, text); // ruleid: packet_query
    run_query(db, to_upper(get_param("name"))); // ruleid: packet_query
    run_query(db, to_lower(get_param("name"))); // ok: packet_query
}

void macros(struct db *db, char *cursor)
{
    int word;
    NEXT_WORD(cursor, word);
    QUERY(db, word); // ruleid: packet_query
}

void any_argument(struct db *db)
{
    char *name = get_param("name");
    run_all(db, "a", 1, name); // ruleid: packet_query
    run_all(db, "a", 1); // ok: packet_query
}

int wrapped_check(struct db *db)
{
    char *name = get_param("name");
    if (recheck(name))
        run_query(db, name); // ok: packet_query
    return 0;
}

static int recheck(const char *text)
{
    return is_name(text);
}

void outside_data_of_other_rules(struct db *db, char **argv)
{
    run_query(db, getenv("NAME")); // ok: packet_query
    run_query(db, argv[1]); // ok: packet_query
}

void in_a_loop(struct db *db, int count)
{
    for (int i = 0; i < count; i++) {
        char *name = get_param("name");
        if (!is_name(name))
            continue;
        run_query(db, name); // ok: packet_query
    }
    for (int i = 0; i < count; i++)
        run_query(db, get_param("name")); // ruleid: packet_query
}

void secrets(const char *user)
{
    char word[32], other[32];
    read_secret(KIND_PASSWORD, sizeof(word), word);
    read_secret(KIND_COLOUR, sizeof(other), other);
    log_line(3, "user %s: %s", user, other); // ok: password_logged
    log_line(3, "user %s: %s", user, word); // ruleid: password_logged
    log_line(3, getpass("? ")); // ruleid: password_logged
    run_query(0, word); // ok: packet_query
}
