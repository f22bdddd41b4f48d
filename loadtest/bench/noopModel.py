"""Answers at once, in a process of its own."""

input_type = "doubles"


def predict(batch):
    return [0] * len(batch)
