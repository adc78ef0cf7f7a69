"""The results store: tables, queries and migrations. This is the only package with SQL."""
