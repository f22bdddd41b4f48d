import type { ModelSpec, NodeSpec, TensorSpec } from './onnxWriter.js';
import { planeShapes, type ImageLayer, type PlaneShape } from './imageDesign.js';
import type { ImageNetwork, LayerWeights } from './imageNetwork.js';

/** The network as an ONNX graph, of one image `[N, rows * columns * channels]` to the probabilities of its classes. */
export function imageNetworkSpec({ design, weights }: ImageNetwork): ModelSpec {
  const shapes = planeShapes(design);
  const nodes: NodeSpec[] = [];
  const initializers: Record<string, TensorSpec> = {};
  const { rows, columns, channels } = design.image;
  if (channels !== 1) throw new RangeError('images have one channel: theirs are not reordered');
  initializers['shape'] = { dims: [4], values: [0, channels, rows, columns], isInteger: true };
  nodes.push({ op: 'Reshape', inputs: ['x', 'shape'], output: name(0) });
  design.layers.forEach((layer, index) => {
    const at = index + 1;
    const own = weights[index];
    const give = (suffix: string, dims: readonly number[], values: Float32Array): string => {
      initializers[`${suffix}${at}`] = { dims, values };
      return `${suffix}${at}`;
    };
    nodes.push(...nodesOf(layer, at, shapes, own, give));
  });
  nodes.push({ op: 'Softmax', inputs: [name(design.layers.length)], output: 'y', attributes: { axis: 1 } });
  return { inputs: { x: ['N', rows * columns * channels] }, initializers, nodes, opset: 13 };
}

function name(at: number): string {
  return `layer${at}`;
}

function nodesOf(
  layer: ImageLayer,
  at: number,
  shapes: readonly PlaneShape[],
  weights: LayerWeights | null,
  give: (suffix: string, dims: readonly number[], values: Float32Array) => string,
): readonly NodeSpec[] {
  const output = name(at);
  switch (layer.kind) {
    case 'convolution': {
      const own = weightsOf(weights, at);
      const { channels } = shapes[layer.from];
      const [high, wide] = layer.kernel;
      const outputs = layer.channels;
      const kernel = give('w', [outputs, channels, high, wide], outputsFirst(own.weights, channels, outputs));
      const pads = [high >> 1, wide >> 1, high >> 1, wide >> 1];
      const inputs = [name(layer.from), kernel, give('b', [outputs], own.biases)];
      const attributes = { kernel_shape: [high, wide], strides: [layer.stride, layer.stride], pads };
      return rectified({ op: 'Conv', inputs, output, attributes }, layer.isRectified);
    }
    case 'dense': {
      const own = weightsOf(weights, at);
      const { channels } = shapes[layer.from];
      const outputs = layer.units;
      const dims = [outputs, own.weights.length / outputs];
      const inputs = [
        `flat${at}`,
        give('w', dims, outputsFirst(own.weights, channels, outputs)),
        give('b', [outputs], own.biases),
      ];
      return [
        { op: 'Flatten', inputs: [name(layer.from)], output: `flat${at}` },
        ...rectified({ op: 'Gemm', inputs, output, attributes: { transB: 1 } }, layer.isRectified),
      ];
    }
    case 'largest': {
      const { size, stride } = layer;
      const pad = size >> 1;
      const attributes = {
        kernel_shape: [size, size],
        strides: [stride, stride],
        pads: [pad, pad, pad, pad],
      };
      return [{ op: 'MaxPool', inputs: [name(layer.from)], output, attributes }];
    }
    case 'mean':
      return [{ op: 'GlobalAveragePool', inputs: [name(layer.from)], output }];
    case 'sum':
      return rectified({ op: 'Add', inputs: layer.from.map(name), output }, true);
    case 'joined':
      return [{ op: 'Concat', inputs: layer.from.map(name), output, attributes: { axis: 1 } }];
  }
}

function weightsOf(weights: LayerWeights | null, at: number): LayerWeights {
  if (weights === null) throw new RangeError(`layer ${at} has no weights`);
  return weights;
}

function rectified(node: NodeSpec, isRectified: boolean): readonly NodeSpec[] {
  if (!isRectified) return [node];
  const before = `${node.output}raw`;
  return [
    { ...node, output: before },
    { op: 'Relu', inputs: [before], output: node.output },
  ];
}

/** From `[pixels][channels][outputs]` to `[outputs][channels][pixels]`. */
function outputsFirst(weights: Float32Array, channels: number, outputs: number): Float32Array {
  const pixels = weights.length / channels / outputs;
  const moved = new Float32Array(weights.length);
  for (let pixel = 0; pixel < pixels; pixel++) {
    for (let c = 0; c < channels; c++) {
      for (let o = 0; o < outputs; o++) {
        moved[(o * channels + c) * pixels + pixel] = weights[(pixel * channels + c) * outputs + o];
      }
    }
  }
  return moved;
}
