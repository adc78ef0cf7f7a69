#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

void remove_key(sqlite3 *db)
{
    char q[200];
    const char *key = getenv("KEY");
    if (!key)
        return;
    snprintf(q, sizeof q, "DELETE FROM things WHERE k='%s'", key);
    sqlite3_exec(db, q, nullptr, nullptr, nullptr); // ruleid: flow_sql_injection
}

PGresult *find_user(PGconn *conn)
{
    char name[40], statement[160];
    if (!fgets(name, sizeof name, stdin))
        return nullptr;
    sprintf(statement, "SELECT id FROM people WHERE name = '%s'", name);
    return PQexec(conn, statement); // ruleid: flow_sql_injection
}

int insert_note(MYSQL *db, int sock)
{
    char note[100], sql[300] = "INSERT INTO notes VALUES ('";
    ssize_t n = recv(sock, note, sizeof note - 1, 0);
    if (n <= 0)
        return -1;
    note[n] = 0;
    strcat(sql, note);
    strcat(sql, "')");
    return mysql_query(db, sql); // ruleid: flow_sql_injection
}

static int run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, 0, 0, 0); // ruleid: flow_sql_injection
}

int run_line(sqlite3 *db)
{
    char line[256];
    if (!fgets(line, sizeof line, stdin))
        return 1;
    return run(db, line);
}

int prepared_too_late(sqlite3 *db, sqlite3_stmt **out)
{
    char word[30], q[90];
    if (scanf("%29s", word) != 1)
        return -1;
    snprintf(q, sizeof q, "SELECT * FROM %s", word);
    return sqlite3_prepare_v2(db, q, -1, out, nullptr); // ruleid: flow_sql_injection
}

// near misses

void remove_all(sqlite3 *db)
{
    sqlite3_exec(db, "DELETE FROM things", nullptr, nullptr, nullptr); // ok: flow_sql_injection
}

int by_placeholder(sqlite3 *db, sqlite3_stmt **out)
{
    char word[30];
    if (scanf("%29s", word) != 1)
        return -1;
    if (sqlite3_prepare_v2(db, "SELECT * FROM t WHERE k = ?", -1, out, nullptr)) // ok: flow_sql_injection
        return -1;
    return sqlite3_bind_text(*out, 1, word, -1, SQLITE_TRANSIENT); // ok: flow_sql_injection
}

int by_number(MYSQL *db)
{
    char text[20], q[90];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    snprintf(q, sizeof q, "SELECT * FROM t LIMIT %d", atoi(text));
    return mysql_query(db, q); // ok: flow_sql_injection
}

int callers_table(MYSQL *db, const char *table)
{
    char q[90];
    snprintf(q, sizeof q, "SELECT * FROM %s", table);
    return mysql_query(db, q); // ok: flow_sql_injection
}

PGresult *quoted(PGconn *conn)
{
    char name[40], sql[200];
    if (!fgets(name, sizeof name, stdin))
        return nullptr;
    char *safe = PQescapeLiteral(conn, name, strlen(name));
    snprintf(sql, sizeof sql, "SELECT id FROM people WHERE name = %s", safe);
    PGresult *r = PQexec(conn, sql); // ok: flow_sql_injection
    PQfreemem(safe);
    return r;
}

int chosen_statement(sqlite3 *db)
{
    char word[30];
    const char *sql = "SELECT 1";
    if (scanf("%29s", word) == 1 && strcmp(word, "two") == 0)
        sql = "SELECT 2";
    return sqlite3_exec(db, sql, 0, 0, 0); // ok: flow_sql_injection
}
