int find(sqlite3 *db, const char *name, int id)
{
    char query[256];

    snprintf(query, sizeof query, "SELECT id FROM user WHERE name = '%s'", name);  /* ruleid: sql_built */
    sprintf(query, "delete from user where name='%s'", name);                      /* ruleid: sql_built */
    sprintf(query, "UPDATE user SET name = '%s' "                                  /* ruleid: sql_built */
                   "WHERE id = %d", name, id);
    asprintf(&text, "INSERT INTO log VALUES (%d, \"%s\")", id, name);              /* ruleid: sql_built */
    _snprintf(query, 256, "SELECT %s FROM user", columns);                         /* ruleid: sql_built */
    snprintf(query, sizeof query, "SELECT id FROM user WHERE id = %d", id);        /* ok: sql_built */
    snprintf(query, sizeof query, "SELECT id FROM %s", "user");                    /* ok: sql_built */
    snprintf(query, sizeof query, "SELECT id FROM %s", TABLE_NAME);                /* ok: sql_built */
    snprintf(query, sizeof query, "Select a file from %s", name);                  /* ok: sql_built */
    snprintf(query, sizeof query, "update of %s failed", name);                    /* ok: sql_built */
    snprintf(query, sizeof query, "SELECT id FROM user WHERE name = '%s'", escape(name)); /* ok: sql_built */
    printf("SELECT id FROM user WHERE name = '%s'\n", name);                       /* ok: sql_built */
    return 0;
}
