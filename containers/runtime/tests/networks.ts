import type { ModelSpec, NodeSpec, TensorSpec } from '../../models/testing/index.js';
import { tensor } from './seededTensors.js';

/** A network in the making: nodes of random weights, each named by what it makes. */
class NetworkWriter {
  readonly nodes: NodeSpec[] = [];
  readonly initializers: Record<string, TensorSpec> = {};
  private count = 0;

  /** A weight of random values, so small that results stay in range. */
  weight(scale: number, ...dims: number[]): string {
    const { values } = tensor(...dims);
    return this.constant({ dims, values: values.map((value) => value * scale) });
  }

  constant(spec: TensorSpec): string {
    const name = `w${(this.count += 1)}`;
    this.initializers[name] = spec;
    return name;
  }

  whole(...values: number[]): string {
    return this.constant({ dims: [values.length], values, isInteger: true });
  }

  scalar(value: number): string {
    return this.constant({ dims: [], values: [value] });
  }

  node(op: string, inputs: readonly string[], attributes: NodeSpec['attributes'] = {}): string {
    const output = `v${(this.count += 1)}`;
    this.nodes.push({ op, inputs, output, attributes });
    return output;
  }

  end(from: string): readonly NodeSpec[] {
    return [...this.nodes, { op: 'Identity', inputs: [from], output: 'y' }];
  }

  /** A convolution and what normalises it. */
  convolution(
    x: string,
    [inputs, outputs]: readonly [number, number],
    size: number,
    stride: number,
    group = 1,
  ): string {
    const pad = Math.floor(size / 2);
    const channels = inputs / group;
    const scale = Math.sqrt(3 / (channels * size * size));
    const made = this.node('Conv', [x, this.weight(scale, outputs, channels, size, size)], {
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      kernel_shape: [size, size],
      group,
    });
    const variance = { dims: [outputs], values: tensor(outputs).values.map((value) => 1.2 + value) };
    return this.node('BatchNormalization', [
      made,
      this.weight(1, outputs),
      this.weight(0.3, outputs),
      this.weight(0.3, outputs),
      this.constant(variance),
    ]);
  }

  relu6(x: string): string {
    return this.node('Clip', [x, this.scalar(0), this.scalar(6)]);
  }
}

/** ResNet-18's layers, of `width` channels in place of 64, for images of `size` pixels. */
export function resNet18(width: number, size: number, classes: number): ModelSpec {
  const net = new NetworkWriter();
  let x = net.node('Relu', [net.convolution('x', [3, width], 7, 2)]);
  x = net.node('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let channels = width;
  for (let stage = 0; stage < 4; stage++) {
    const outputs = width * 2 ** stage;
    for (let block = 0; block < 2; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      const first = net.node('Relu', [net.convolution(x, [channels, outputs], 3, stride)]);
      const second = net.convolution(first, [outputs, outputs], 3, 1);
      const beside =
        stride === 1 && channels === outputs ? x : net.convolution(x, [channels, outputs], 1, stride);
      x = net.node('Relu', [net.node('Add', [second, beside])]);
      channels = outputs;
    }
  }
  const flat = net.node('Flatten', [net.node('GlobalAveragePool', [x])]);
  const y = net.node('Gemm', [flat, net.weight(0.3, classes, channels), net.weight(0.1, classes)], {
    transB: 1,
  });
  return {
    inputs: { x: ['N', 3, size, size] },
    initializers: net.initializers,
    nodes: net.end(y),
    opset: 12,
  };
}

/** MobileNetV2's inverted residuals: convolutions of groups between those of one pixel. */
export function mobileNet(size: number, classes: number): ModelSpec {
  const net = new NetworkWriter();
  let x = net.relu6(net.convolution('x', [3, 8], 3, 2));
  let channels = 8;
  for (const [outputs, stride, expansion] of [
    [8, 1, 1],
    [12, 2, 4],
    [12, 1, 4],
    [16, 2, 4],
    [16, 1, 4],
  ] as const) {
    const wide = channels * expansion;
    const expanded = expansion === 1 ? x : net.relu6(net.convolution(x, [channels, wide], 1, 1));
    const deep = net.relu6(net.convolution(expanded, [wide, wide], 3, stride, wide));
    const narrow = net.convolution(deep, [wide, outputs], 1, 1);
    x = stride === 1 && channels === outputs ? net.node('Add', [x, narrow]) : narrow;
    channels = outputs;
  }
  const last = net.relu6(net.convolution(x, [channels, 32], 1, 1));
  const flat = net.node('Reshape', [net.node('GlobalAveragePool', [last]), net.whole(0, -1)]);
  const y = net.node('Gemm', [flat, net.weight(0.3, 32, classes), net.weight(0.1, classes)]);
  return {
    inputs: { x: ['N', 3, size, size] },
    initializers: net.initializers,
    nodes: net.end(y),
    opset: 13,
  };
}

/** BERT's layers as PyTorch exports them, with LayerNormalization and GELU spelled out; three inputs of whole numbers. */
export function bertTiny(length: number, hidden: number, heads: number, layers: number): ModelSpec {
  const net = new NetworkWriter();
  const vocabulary = 50;
  const dense = (x: string, inputs: number, outputs: number): string =>
    net.node('Add', [
      net.node('MatMul', [x, net.weight(Math.sqrt(3 / inputs), inputs, outputs)]),
      net.weight(0.1, outputs),
    ]);
  const normalized = (x: string): string => {
    const mean = net.node('ReduceMean', [x], { axes: [-1] });
    const apart = net.node('Sub', [x, mean]);
    const variance = net.node('ReduceMean', [net.node('Pow', [apart, net.scalar(2)])], { axes: [-1] });
    const deviation = net.node('Sqrt', [net.node('Add', [variance, net.scalar(1e-12)])]);
    const ratio = net.node('Div', [apart, deviation]);
    return net.node('Add', [net.node('Mul', [ratio, net.weight(1, hidden)]), net.weight(0.2, hidden)]);
  };
  const split = (x: string, order: number[]): string =>
    net.node('Transpose', [net.node('Reshape', [x, net.whole(0, -1, heads, hidden / heads)])], {
      perm: order,
    });
  const words = net.node('Gather', [net.weight(1, vocabulary, hidden), 'input_ids']);
  const kinds = net.node('Gather', [net.weight(1, 2, hidden), 'token_type_ids']);
  const places = net.weight(1, 1, length, hidden);
  let x = normalized(net.node('Add', [net.node('Add', [words, kinds]), places]));
  const mask = net.node('Cast', [net.node('Unsqueeze', ['attention_mask', net.whole(1, 2)])], { to: 1 });
  const penalty = net.node('Mul', [net.node('Sub', [net.scalar(1), mask]), net.scalar(-10_000)]);
  for (let layer = 0; layer < layers; layer++) {
    const [query, key, value] = [
      split(dense(x, hidden, hidden), [0, 2, 1, 3]),
      split(dense(x, hidden, hidden), [0, 2, 3, 1]),
      split(dense(x, hidden, hidden), [0, 2, 1, 3]),
    ];
    const scores = net.node('Div', [net.node('MatMul', [query, key]), net.scalar(Math.sqrt(hidden / heads))]);
    const shares = net.node('Softmax', [net.node('Add', [scores, penalty])], { axis: -1 });
    const seen = net.node('Transpose', [net.node('MatMul', [shares, value])], { perm: [0, 2, 1, 3] });
    const joined = net.node('Reshape', [seen, net.whole(0, -1, hidden)]);
    x = normalized(net.node('Add', [dense(joined, hidden, hidden), x]));
    const wide = dense(x, hidden, 4 * hidden);
    const half = net.node('Erf', [net.node('Div', [wide, net.scalar(Math.SQRT2)])]);
    const gelu = net.node('Mul', [
      net.node('Mul', [wide, net.node('Add', [half, net.scalar(1)])]),
      net.scalar(0.5),
    ]);
    x = normalized(net.node('Add', [dense(gelu, 4 * hidden, hidden), x]));
  }
  const first = net.node('Gather', [x, net.constant({ dims: [], values: [0], isInteger: true })], {
    axis: 1,
  });
  const y = dense(net.node('Tanh', [dense(first, hidden, hidden)]), hidden, 3);
  return {
    inputs: { input_ids: ['N', length], attention_mask: ['N', length], token_type_ids: ['N', length] },
    inputElement: 7,
    initializers: net.initializers,
    nodes: net.end(y),
    opset: 13,
  };
}
