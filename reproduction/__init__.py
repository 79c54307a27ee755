"""The papers' experiments repeated on their data: our values beside the published ones."""
