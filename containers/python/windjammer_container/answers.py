"""Runs batches through a user's model, one after the other."""

import time

from .costs import PredictCosts
from .frames import CANCELLED, INVALID_INPUT, UNDECIDED
from .model import print_traceback
from .outputs import failed, listed, message_of, result_of

# So many times what its batch would have taken may be spent on finding who has spoilt it: others wait behind it.
PATIENCE = 4
LEAST_PATIENCE_NS = 5e6
# A process that is silent for long counts as hung.
MOST_PATIENCE_NS = 2e9
# So many inputs that fail one by one, with no answer in between: the model fails whatever it gets.
HOPELESS = 12
# From so many bad inputs to be expected on a batch is not tried as a whole.
WORTH_PARTING = 1.5


# Of what is raised for a batch, so much is told in the log.
MOST_TOLD = 3


class Answers:
    """One result an item. Raises no Exception; what ends a process (SystemExit, KeyboardInterrupt) goes through."""

    def __init__(self, model):
        self._model = model
        self._costs = PredictCosts()
        self._failed_alone = 0
        # What was raised for the last batch, in the order in which it was.
        self._raised = []

    def tell_raised(self):
        """Prints what was raised, once the answers are on their way: nobody waits for the log."""
        for error in self._raised:
            print_traceback(error)
        self._raised = []

    def answer(self, items, is_suspect, is_cancelled):
        """Results, and calls of predict; None where inputs are asked one by one. is_cancelled: of an item's id."""
        results = []
        open_items = []
        for item in items:
            refusal = self._model.refusal(item.data)
            if is_cancelled(item.id):
                results.append(_cancelled(item))
            elif refusal is not None:
                results.append(failed(item.id, refusal, INVALID_INPUT))
            else:
                open_items.append(item)
        if self._model.predict_one is not None:
            results += [_cancelled(item) if is_cancelled(item.id) else self._one(item) for item in open_items]
            return results, 0
        if not open_items:
            return results, 0
        answered, calls = self._together(open_items, is_suspect, is_cancelled)
        return results + answered, calls

    def _one(self, item):
        try:
            return result_of(item.id, self._model.predict_one(self._model.input_of(item.data)))
        except Exception as error:
            return failed(item.id, self._failure(error))

    def _failure(self, error):
        if len(self._raised) < MOST_TOLD:
            self._raised.append(error)
        return message_of(error)

    def _together(self, items, is_suspect, is_cancelled):
        """A call that fails for a batch says nothing about who is to blame: its inputs are asked again in parts until each has
        its answer, or has failed by itself, as long as that does not hold up others; the rest is left undecided."""
        costs = self._costs
        costs.on_batch(is_suspect)
        started_ns = time.perf_counter_ns()
        results = []
        # The next one stands last.
        groups = [items]
        failed_since_ns = None
        if len(items) > 1 and costs.expected_bad(len(items)) >= WORTH_PARTING:
            groups = _cut(items, costs.group_size(len(items)))
            failed_since_ns = started_ns if len(groups) > 1 else None
        patience_ns = self._patience_ns(len(items), 0)
        calls = 0
        failure = ""
        while groups:
            group = groups.pop()
            began_ns = time.perf_counter_ns()
            open_items = []
            for item in group:
                is_late = calls > 0 and began_ns - started_ns >= item.budget_ns
                if is_late or is_cancelled(item.id):
                    results.append(_cancelled(item))
                else:
                    open_items.append(item)
            if not open_items:
                continue
            is_out = failed_since_ns is not None and began_ns - failed_since_ns > patience_ns
            if calls > 0 and (is_out or self._failed_alone >= HOPELESS):
                results += [failed(item.id, failure, UNDECIDED) for item in open_items]
                continue
            calls += 1
            outputs, why = self._call(open_items)
            ended_ns = time.perf_counter_ns()
            took_ns = ended_ns - began_ns
            if why is None:
                self._failed_alone = 0
                costs.on_answered(len(open_items), took_ns)
                results += [result_of(item.id, output) for item, output in zip(open_items, outputs)]
                continue
            failure = why
            costs.on_failed(len(open_items), took_ns)
            if len(open_items) == 1:
                self._failed_alone += 1
                results.append(failed(open_items[0].id, failure))
                continue
            if failed_since_ns is None:
                failed_since_ns = ended_ns
                # Not even one more call like this where it took too long.
                patience_ns = -1 if took_ns > MOST_PATIENCE_NS else self._patience_ns(len(open_items), took_ns)
            groups += _cut(open_items, costs.group_size(len(open_items)))
        return results, calls

    def _call(self, items):
        """Outputs and None, or None and why there are none."""
        try:
            outputs = listed(self._model.predict(self._model.batch_of(items)))
        except Exception as error:
            return None, self._failure(error)
        if len(outputs) != len(items):
            return None, "predict gave %d outputs for %d inputs" % (len(outputs), len(items))
        return outputs, None

    def _patience_ns(self, size, failed_ns):
        whole_ns = max(self._costs.answered_ns(size), failed_ns)
        return min(MOST_PATIENCE_NS, max(LEAST_PATIENCE_NS, PATIENCE * whole_ns))


def _cancelled(item):
    return failed(item.id, "cancelled before it began", CANCELLED)


def _cut(items, size):
    groups = [items[at : at + size] for at in range(0, len(items), size)]
    groups.reverse()
    return groups
