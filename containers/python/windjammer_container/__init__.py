"""What runs a user's model in Python, in a process of its own. Standard library alone."""
