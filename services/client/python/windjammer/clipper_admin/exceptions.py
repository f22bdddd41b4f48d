"""What the calls of this package raise."""


class ClipperException(Exception):
    """A call failed, or has no meaning here; its text says what to do."""

    def __init__(self, msg: str, *args: object):
        super().__init__(msg, *args)
        self.msg = msg


class UnconnectedException(ClipperException):
    """connect or start_clipper comes first."""

    def __init__(self, *args: object):
        super().__init__("not connected: call connect() or start_clipper() first", *args)
