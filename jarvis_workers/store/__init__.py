"""The results store: tables, queries and migrations. All writes, and nearly all queries, are here."""
