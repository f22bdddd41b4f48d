from echoes import Echo


class Model(Echo):
    tag = "even"
