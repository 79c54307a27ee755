"""The story of a case: its way through the tree, and the smallest change that ends elsewhere."""
