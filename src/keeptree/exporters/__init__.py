"""Trees and models as code, queries, graphs and documents that need no KeepTree to run."""
