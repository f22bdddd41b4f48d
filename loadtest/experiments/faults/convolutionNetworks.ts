import { NetworkBuilder, type Tensor } from './networkBuilder.js';
import type { StudiedModel } from './studiedModel.js';

/** `small`: images of 32 x 32 pixels in ten classes, as of CIFAR-10; `large`: of 224 x 224 in a thousand, as of ImageNet. */
export type NetworkSize = 'small' | 'large';

const SEED = 7;

/**
 * The five families of networks on which PICKER's fault tolerance was measured, with weights that are drawn. One image a pass.
 */
export function convolutionNetworks(size: NetworkSize): readonly StudiedModel[] {
  const isLarge = size === 'large';
  const bodies: Readonly<Record<string, Body>> = {
    ResNet: isLarge ? residual([64, 128, 256, 512], 2) : residual([16, 32, 64], 3),
    MobileNet: isLarge ? separable(32, 1, 5) : separable(16, 0, 1),
    Inception: isLarge ? branching([64, 96, 128, 128, 160, 192]) : branching([16, 24, 32]),
    DenseNet: isLarge ? denselyConnected(32, [6, 12, 24, 16]) : denselyConnected(12, [5, 5, 5]),
    VGG: isLarge
      ? plain([[64], [128], [256, 256], [512, 512], [512, 512]], 4096)
      : plain([[32], [64], [128, 128], [256, 256]], 256),
  };
  return Object.entries(bodies).map(([name, body]) => {
    const net = new NetworkBuilder(SEED);
    const side = isLarge ? 224 : 32;
    const image = net.image(3, side, side);
    const scores = net.softmax(net.dense(body(net, image, isLarge), isLarge ? 1000 : 10));
    return net.model(name, { buffer: image.buffer, contents: net.drawn(image.buffer) }, scores.buffer);
  });
}

type Body = (net: NetworkBuilder, image: Tensor, isLarge: boolean) => Tensor;

/** Large images become a quarter as wide first. */
function stem(net: NetworkBuilder, image: Tensor, filters: number, isLarge: boolean): Tensor {
  return isLarge ? net.pool(net.convolution(image, filters, 5, 2)) : net.convolution(image, filters, 3);
}

/** ResNet-18 when large, ResNet-20 when small. */
function residual(stages: readonly number[], blocks: number): Body {
  return (net, image, isLarge) => {
    let at = stem(net, image, stages[0], isLarge);
    for (const [stage, filters] of stages.entries()) {
      for (let block = 0; block < blocks; block++) {
        const stride = stage > 0 && block === 0 ? 2 : 1;
        const branch = net.convolution(net.convolution(at, filters, 3, stride), filters, 3);
        at = net.sum(branch, stride === 2 ? net.convolution(at, filters, 1, 2) : at);
      }
    }
    return net.average(at);
  };
}

/** MobileNet; small ones at half width and without two of its strides. */
function separable(width: number, more: number, middle: number): Body {
  return (net, image, isLarge) => {
    let at = net.convolution(image, width, 3, isLarge ? 2 : 1);
    const layer = (filters: number, stride: number): void => {
      at = net.convolution(net.depthwise(at, stride), filters * width, 1);
    };
    layer(2, 1);
    for (const filters of [4, 8, 16].slice(0, 2 + more)) {
      layer(filters, 2);
      layer(filters, 1);
    }
    for (let each = 1; each < middle; each++) layer(16, 1);
    if (isLarge) layer(32, 2);
    layer(isLarge ? 32 : 16, 1);
    return net.average(at);
  };
}

/** Modules of four branches, half of them on an image of half the size. */
function branching(widths: readonly number[]): Body {
  return (net, image, isLarge) => {
    let at = net.pool(stem(net, image, 32, isLarge));
    for (const [module, width] of widths.entries()) {
      const one = net.convolution(at, width, 1);
      const three = net.convolution(net.convolution(at, width, 1), 2 * width, 3);
      const five = net.convolution(net.convolution(at, width / 2, 1), width, 5);
      const twice = net.convolution(net.convolution(net.convolution(at, width, 1), width, 3), width, 3);
      at = net.concatenation(net.concatenation(one, three), net.concatenation(five, twice));
      if (module + 1 === widths.length / 2) at = net.pool(at);
    }
    return net.average(at);
  };
}

/** Blocks of layers, each of which sees all before it: DenseNet-121 when large. */
function denselyConnected(growth: number, blocks: readonly number[]): Body {
  return (net, image, isLarge) => {
    let at = stem(net, image, 2 * growth, isLarge);
    for (const [block, layers] of blocks.entries()) {
      for (let layer = 0; layer < layers; layer++) {
        at = net.concatenation(at, net.convolution(net.convolution(at, 4 * growth, 1), growth, 3));
      }
      if (block + 1 < blocks.length) at = net.pool(net.convolution(at, at.channels / 2, 1));
    }
    return net.average(at);
  };
}

/** VGG-11 when large. */
function plain(stages: readonly (readonly number[])[], hidden: number): Body {
  return (net, image) => {
    let at = image;
    for (const stage of stages) {
      for (const filters of stage) at = net.convolution(at, filters, 3);
      at = net.pool(at);
    }
    return net.dense(net.dense(at, hidden), hidden);
  };
}
