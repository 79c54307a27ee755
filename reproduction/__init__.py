"""The papers' experiments on the papers' data: our values beside the published ones."""
