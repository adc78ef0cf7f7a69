"""The results store: tables, queries, migrations. Alone knows SQL."""
