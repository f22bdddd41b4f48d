"""A network of images in Python: the layers of network.json with numpy, whole batches at a time."""

import json

import numpy


def rectified(values, layer):
    return numpy.maximum(values, 0) if layer["isRectified"] else values


def padded(values, rows, columns, fill):
    pads = ((0, 0), (rows, rows), (columns, columns), (0, 0))
    return numpy.pad(values, pads, constant_values=fill)


def windows(values, high, wide, stride, fill):
    """What each place of a window sees, one after the other: arrays of [images, rows, columns, channels]."""
    around = padded(values, high // 2, wide // 2, fill)
    rows = (around.shape[1] - high) // stride + 1
    columns = (around.shape[2] - wide) // stride + 1
    for y in range(high):
        for x in range(wide):
            yield around[:, y : y + stride * rows : stride, x : x + stride * columns : stride][:, :rows, :columns]


def convolution(layer, values, weights):
    high, wide = layer["kernel"]
    kernels = weights["weights"].reshape(high * wide, values.shape[3], layer["channels"])
    seen = windows(values, high, wide, layer["stride"], 0)
    return rectified(sum(part @ kernel for part, kernel in zip(seen, kernels)) + weights["biases"], layer)


def dense(layer, values, weights):
    flat = values.reshape(len(values), -1)
    result = flat @ weights["weights"].reshape(flat.shape[1], -1) + weights["biases"]
    return rectified(result, layer)[:, None, None, :]


def result_of(layer, planes, weights):
    kind = layer["kind"]
    if kind == "sum":
        return numpy.maximum(planes[layer["from"][0]] + planes[layer["from"][1]], 0)
    if kind == "joined":
        return numpy.concatenate([planes[place] for place in layer["from"]], axis=3)
    values = planes[layer["from"]]
    if kind == "convolution":
        return convolution(layer, values, weights)
    if kind == "dense":
        return dense(layer, values, weights)
    if kind == "largest":
        size = layer["size"]
        return numpy.maximum.reduce(list(windows(values, size, size, layer["stride"], -numpy.inf)))
    return values.mean(axis=(1, 2), keepdims=True)


class Model:
    """Labels an image by the largest of its scores."""

    input_type = "floats"
    input_length = 784
    max_batch_size = 64

    def load(self):
        with open("network.json", encoding="utf-8") as file:
            network = json.load(file)
        self.image = network["design"]["image"]
        self.layers = network["design"]["layers"]
        self.weights = [
            own and {name: numpy.array(values, dtype=numpy.float32) for name, values in own.items()}
            for own in network["weights"]
        ]

    def predict(self, batch):
        shape = (len(batch), self.image["rows"], self.image["columns"], self.image["channels"])
        planes = [numpy.asarray(batch, dtype=numpy.float32).reshape(shape)]
        for layer, weights in zip(self.layers, self.weights):
            planes.append(result_of(layer, planes, weights))
        scores = planes[-1].reshape(len(batch), -1)
        powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        return [{"output": str(row.argmax()), "scores": row} for row in shares]
