"""Engines: they bring blocks of rows to one scorer and its answers to where they are wanted."""
