from echoes import Echo


class Model(Echo):
    tag = "odd"
