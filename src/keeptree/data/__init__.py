"""Everything between the user's table or file and the numbers a tree compares."""
