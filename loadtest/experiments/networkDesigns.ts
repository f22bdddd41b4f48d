import { ImageDrafter, type ImageDesign } from '../../containers/models/testing/index.js';

const DIGIT = { rows: 28, columns: 28, channels: 1 };
const CLASSES = 10;

export interface NamedDesign {
  readonly name: string;
  readonly design: ImageDesign;
}

/**
 * The networks of Clipper's table 2 by their shapes, as small as digits need them: what makes each one its kind (stacks of 3 x 3
 * kernels, inceptions, residuals, few layers with large dense ones, factorised inceptions), of a few channels, and without normalisation.
 */
export const TABLE_2: readonly NamedDesign[] = [
  { name: 'vgg', design: vgg() },
  { name: 'googlenet', design: googLeNet() },
  { name: 'resnet', design: resNet(10) },
  { name: 'caffenet', design: caffeNet() },
  { name: 'inception', design: inception() },
];

function designOf(net: ImageDrafter): ImageDesign {
  return { image: DIGIT, layers: net.layers };
}

/** Eight convolutions of 3 x 3, three dense layers. */
function vgg(): ImageDesign {
  const net = new ImageDrafter();
  let x = net.largest(net.convolution(net.image, 4, 3), 3, 2);
  for (const channels of [8, 12, 16]) {
    const depth = channels === 16 ? 3 : 2;
    for (let at = 0; at < depth; at++) x = net.convolution(x, channels, 3);
    x = net.largest(x, 3, 2);
  }
  net.dense(net.dense(net.dense(x, 32), 32), CLASSES, false);
  return designOf(net);
}

/** Three inceptions: kernels of 1, 3 and 5 behind fewer channels, and a pool, side by side. */
function googLeNet(): ImageDesign {
  const net = new ImageDrafter();
  const module = (x: number, [one, few, three, fewer, five, pooled]: readonly number[]): number =>
    net.joined(
      net.convolution(x, one, 1),
      net.convolution(net.convolution(x, few, 1), three, 3),
      net.convolution(net.convolution(x, fewer, 1), five, 5),
      net.convolution(net.largest(x, 3, 1), pooled, 1),
    );
  let x = net.largest(net.convolution(net.image, 8, 5, { stride: 2 }), 3, 2);
  x = module(x, [4, 4, 6, 2, 4, 4]);
  x = module(x, [6, 6, 8, 3, 4, 4]);
  x = module(net.largest(x, 3, 2), [8, 8, 16, 4, 8, 8]);
  net.dense(net.mean(x), CLASSES, false);
  return designOf(net);
}

/** Four blocks with ways around them, of `width` channels and then half as many more. */
export function resNet(width: number): ImageDesign {
  const net = new ImageDrafter();
  const linear = { isRectified: false };
  let x = net.largest(net.convolution(net.image, width, 5, { stride: 2 }), 3, 2);
  const wider = Math.round(1.5 * width);
  for (const [channels, stride] of [
    [width, 1],
    [width, 1],
    [wider, 2],
    [wider, 1],
  ]) {
    const inner = net.convolution(net.convolution(x, channels, 3, { stride }), channels, 3, linear);
    x = net.sum(inner, stride === 1 ? x : net.convolution(x, channels, 1, { stride, ...linear }));
  }
  net.dense(net.mean(x), CLASSES, false);
  return designOf(net);
}

/** Five convolutions, the first with a large kernel, and three dense layers. */
function caffeNet(): ImageDesign {
  const net = new ImageDrafter();
  let x = net.largest(net.convolution(net.image, 8, 5, { stride: 2 }), 3, 2);
  for (const channels of [12, 12, 12, 8]) x = net.convolution(x, channels, 3);
  net.dense(net.dense(net.dense(net.largest(x, 3, 2), 32), 32), CLASSES, false);
  return designOf(net);
}

/** Two convolutions, and three inceptions whose kernels are factorised: 3 x 3 twice, 1 x 3 and 3 x 1. */
function inception(): ImageDesign {
  const net = new ImageDrafter();
  const module = (x: number, width: number): number =>
    net.joined(
      net.convolution(x, width, 1),
      net.convolution(net.convolution(net.convolution(x, width, 1), width, [1, 3]), width, [3, 1]),
      net.convolution(net.convolution(net.convolution(x, width, 1), width, 3), width, 3),
      net.convolution(net.largest(x, 3, 1), width, 1),
    );
  let x = net.convolution(net.convolution(net.image, 6, 3, { stride: 2 }), 8, 3);
  x = module(net.largest(x, 3, 2), 4);
  x = module(x, 5);
  x = module(net.largest(x, 3, 2), 8);
  net.dense(net.mean(x), CLASSES, false);
  return designOf(net);
}
