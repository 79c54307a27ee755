"""Fuzz KeepTree with damaged files, random data and commands; expect a result or a clear error."""
