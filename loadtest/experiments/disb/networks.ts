import { Network, encoder, type Operation } from './network.js';
import type { ModelName } from './ownWorkloads.js';

/** A model as a list of kernels. */
export interface NetworkModel {
  readonly operations: readonly Operation[];
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Alone, by DISB's table for TensorRT on an RTX 3080; undefined: not told for this model alone. */
  readonly aloneMs?: number;
}

/** Of the five models together, from the same table (D: 27.7 ms less 24.0). */
export const MEAN_ALONE_MS = 3.7;

const CLASSES_BYTES = 4 * 1000;

/** DISB's models by their published architectures, a kernel an operation. */
export function networkModel(name: ModelName): NetworkModel {
  switch (name) {
    case 'vgg19':
      return { ...convolutional(vgg19()), aloneMs: 2.77 };
    case 'resnet152':
      return convolutional(resnet152());
    case 'densenet201':
      return { ...convolutional(densenet201()), aloneMs: 7.5 };
    case 'inceptionv3':
      return convolutional(inceptionV3());
    case 'distilbert': {
      const [tokens, width] = [128, 768];
      const classifier = new Network(width, 1).dense(width).dense(2);
      return {
        operations: [...encoder(6, tokens, width, 12), ...classifier.operations],
        inputBytes: 2 * 4 * tokens,
        outputBytes: 8,
        aloneMs: 1.2,
      };
    }
  }
}

function convolutional({ operations, inputBytes }: Network): NetworkModel {
  return { operations, inputBytes, outputBytes: CLASSES_BYTES };
}

function vgg19(): Network {
  const network = new Network(3, 224);
  for (const [filters, layers] of [
    [64, 2],
    [128, 2],
    [256, 4],
    [512, 4],
    [512, 4],
  ] as const) {
    for (let layer = 0; layer < layers; layer++) network.convolution(filters, 3);
    network.pool(2, 2);
  }
  return network.dense(4096).dense(4096).dense(1000).softmax();
}

function resnet152(): Network {
  const network = new Network(3, 224).convolution(64, 7, 2).pool(3, 2, true);
  for (const [width, blocks, first] of [
    [64, 3, 1],
    [128, 8, 2],
    [256, 36, 2],
    [512, 3, 2],
  ] as const) {
    for (let block = 0; block < blocks; block++) {
      const stride = block === 0 ? first : 1;
      if (block === 0) network.beside((shortcut) => shortcut.convolution(4 * width, 1, stride));
      network
        .convolution(width, 1)
        .convolution(width, 3, stride)
        .convolution(4 * width, 1)
        .addRelu();
    }
  }
  return network.globalPool().dense(1000).softmax();
}

function densenet201(): Network {
  const growth = 32;
  const network = new Network(3, 224).convolution(64, 7, 2).pool(3, 2, true);
  const blocks = [6, 12, 48, 32];
  for (const [index, layers] of blocks.entries()) {
    for (let layer = 0; layer < layers; layer++) {
      const { channels } = network;
      network.beside((each) =>
        each
          .scaleRelu()
          .convolution(4 * growth, 1)
          .convolution(growth, 3),
      );
      network.widen(channels + growth);
    }
    network.scaleRelu();
    if (index < blocks.length - 1) network.convolution(network.channels / 2, 1).pool(2, 2);
  }
  return network.globalPool().dense(1000).softmax();
}

function inceptionV3(): Network {
  const network = new Network(3, 299)
    .convolution(32, 3, 2, false)
    .convolution(32, 3, 1, false)
    .convolution(64, 3)
    .pool(3, 2)
    .convolution(80, 1)
    .convolution(192, 3, 1, false)
    .pool(3, 2);
  for (const pooled of [32, 64, 64]) {
    network.branches(
      (b) => b.convolution(64, 1),
      (b) => b.convolution(48, 1).convolution(64, 5),
      (b) => b.convolution(64, 1).convolution(96, 3).convolution(96, 3),
      (b) => b.pool(3, 1, true).convolution(pooled, 1),
    );
  }
  network.branches(
    (b) => b.convolution(384, 3, 2, false),
    (b) => b.convolution(64, 1).convolution(96, 3).convolution(96, 3, 2, false),
    (b) => b.pool(3, 2),
  );
  for (const wide of [128, 160, 160, 192]) {
    network.branches(
      (b) => b.convolution(192, 1),
      (b) => b.convolution(wide, 1).convolution(wide, [1, 7]).convolution(192, [7, 1]),
      (b) =>
        b
          .convolution(wide, 1)
          .convolution(wide, [7, 1])
          .convolution(wide, [1, 7])
          .convolution(wide, [7, 1])
          .convolution(192, [1, 7]),
      (b) => b.pool(3, 1, true).convolution(192, 1),
    );
  }
  network.branches(
    (b) => b.convolution(192, 1).convolution(320, 3, 2, false),
    (b) =>
      b.convolution(192, 1).convolution(192, [1, 7]).convolution(192, [7, 1]).convolution(192, 3, 2, false),
    (b) => b.pool(3, 2),
  );
  for (let block = 0; block < 2; block++) {
    const pair = (b: Network): Network =>
      b.branches(
        (each) => each.convolution(384, [1, 3]),
        (each) => each.convolution(384, [3, 1]),
      );
    network.branches(
      (b) => b.convolution(320, 1),
      (b) => pair(b.convolution(384, 1)),
      (b) => pair(b.convolution(448, 1).convolution(384, 3)),
      (b) => b.pool(3, 1, true).convolution(192, 1),
    );
  }
  return network.globalPool().dense(1000).softmax();
}
