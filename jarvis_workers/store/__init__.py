"""The results store: tables, queries and migrations. The only package with SQL."""
