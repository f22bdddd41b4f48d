"""What calls of predict have taken, and in which groups inputs are asked again that have failed together."""

import math

# Weight of the newest call in running means.
NEWEST_WEIGHT = 0.2
# Inputs, counted with fading weights, that tell the share of bad ones.
MOST_COUNTED = 256
# Bad inputs to be expected in a group: about half of such groups are answered.
BAD_A_GROUP = 0.7


class PredictCosts:
    """As containers/runtime/process/predictCosts.ts, but for models that cannot be watched while they go through a batch."""

    def __init__(self):
        self._one_ns = None
        self._several_ns = None
        self._several_size = 0
        self._failed_ns = None
        self._failed_one_ns = None
        # Of inputs that travel with everybody's, and of those that travel apart: [bad, counted].
        self._shares = {False: [0, 0], True: [0, 0]}
        self._share = self._shares[False]

    def on_batch(self, is_suspect):
        self._share = self._shares[is_suspect]

    def answered_ns(self, size):
        """At most what a call takes that is answered, as far as that is known."""
        fixed_ns, item_ns = self._line()
        return fixed_ns * size if self._several_ns is None else fixed_ns + item_ns * size

    def on_answered(self, size, took_ns):
        self._count(size, 0)
        if size == 1:
            self._one_ns = _weighed(self._one_ns, took_ns)
        else:
            self._several_size = _weighed(None if self._several_ns is None else self._several_size, size)
            self._several_ns = _weighed(self._several_ns, took_ns)

    def on_failed(self, size, took_ns):
        if size == 1:
            self._failed_one_ns = _weighed(self._failed_one_ns, took_ns)
            self._count(1, 1)
        else:
            self._failed_ns = _weighed(self._failed_ns, took_ns)

    def expected_bad(self, size):
        """Bad ones among so many, as far as the inputs before them tell."""
        bad, counted = self._share
        return 0 if counted == 0 else bad / counted * size

    def group_size(self, size):
        """The cheapest size of groups for inputs that have failed together, or of which some will."""
        bad = min(size, max(1, self.expected_bad(size)))
        good = size - bad
        failed_ns = self._failed_ns or 0
        failed_one_ns = failed_ns if self._failed_one_ns is None else self._failed_one_ns
        fixed_ns, item_ns = self._line()
        singles_ns = good * (fixed_ns + item_ns) + bad * failed_one_ns
        # As many calls as there are bits to be found; half of them are answered.
        calls = max(2, size * _entropy(bad / size))
        groups_ns = calls / 2 * (fixed_ns + failed_ns) + good * item_ns
        if singles_ns <= groups_ns:
            return 1
        return min(max(1, size // 2), max(1, int(BAD_A_GROUP * size / bad)))

    def _line(self):
        """Through what is known of calls that are answered: what a call takes, and what each input adds."""
        one_ns, several_ns = self._one_ns, self._several_ns
        if one_ns is None or several_ns is None:
            return (one_ns if one_ns is not None else several_ns or 0), 0
        slope_ns = (several_ns - one_ns) / (self._several_size - 1)
        item_ns = min(max(0, slope_ns), several_ns / self._several_size)
        return several_ns - item_ns * self._several_size, item_ns

    def _count(self, inputs, bad):
        share = self._share
        share[0] += bad
        share[1] += inputs
        if share[1] > MOST_COUNTED:
            share[0] /= 2
            share[1] /= 2


def _weighed(mean, newest):
    return newest if mean is None else mean + NEWEST_WEIGHT * (newest - mean)


def _entropy(share):
    if share <= 0 or share >= 1:
        return 0
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)
