/** Side of the image that the models take. */
export const DIGIT_SIDE = 28;
/** Side of the box that a digit is scaled into. */
const BOX_SIDE = 20;
/** Where MNIST has its digits' centre of mass: the middle of pixel 14, counted from 0, and not the image's own middle. */
const CENTRE = 14.5;
/** Ink fainter than this is no part of the digit: the rims of smoothed strokes. */
const FAINT = 0.05;

interface Box {
  readonly left: number;
  readonly top: number;
  /** One past the last column and row. */
  readonly right: number;
  readonly bottom: number;
}

/**
 * A drawing as MNIST has its digits: scaled, with its proportions kept, into a box of 20 × 20 pixels that is placed in
 * 28 × 28 with its centre of mass where theirs is. Grey is the share of a pixel that ink covers.
 * @param ink row by row, `width` × `height` values from 0 (paper) to 1 (ink).
 * @returns 784 values from 0 to 1; undefined when nothing is drawn.
 */
export function normaliseDigit(
  ink: ArrayLike<number>,
  width: number,
  height: number,
): Float32Array | undefined {
  const box = inkBox(ink, width, height);
  if (box === undefined) return undefined;
  const sourcePerPixel = Math.max(box.right - box.left, box.bottom - box.top) / BOX_SIDE;
  const centre = centreOfMass(ink, width, box);
  // Where the image's left and top edge lie in the drawing.
  const left = edge(centre.x, box.left, box.right, sourcePerPixel);
  const top = edge(centre.y, box.top, box.bottom, sourcePerPixel);
  const image = new Float32Array(DIGIT_SIDE * DIGIT_SIDE);
  for (let row = 0; row < DIGIT_SIDE; row++) {
    for (let column = 0; column < DIGIT_SIDE; column++) {
      image[row * DIGIT_SIDE + column] = covered(
        ink,
        width,
        height,
        left + column * sourcePerPixel,
        top + row * sourcePerPixel,
        sourcePerPixel,
      );
    }
  }
  return image;
}

function inkBox(ink: ArrayLike<number>, width: number, height: number): Box | undefined {
  let left = width;
  let right = 0;
  let top = height;
  let bottom = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (ink[y * width + x] <= FAINT) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  }
  return right === 0 ? undefined : { left, top, right, bottom };
}

function centreOfMass(ink: ArrayLike<number>, width: number, box: Box): { x: number; y: number } {
  let mass = 0;
  let x = 0;
  let y = 0;
  for (let row = box.top; row < box.bottom; row++) {
    for (let column = box.left; column < box.right; column++) {
      const value = ink[row * width + column];
      mass += value;
      x += value * (column + 0.5);
      y += value * (row + 0.5);
    }
  }
  return { x: x / mass, y: y / mass };
}

/**
 * Where the image's edge lies: such that the mass is centred, to a whole pixel as MNIST's digits are placed, but no
 * further than keeps the whole digit in the image.
 */
function edge(centre: number, from: number, to: number, sourcePerPixel: number): number {
  const margin = Math.round(CENTRE - (centre - from) / sourcePerPixel);
  const most = Math.floor(DIGIT_SIDE - (to - from) / sourcePerPixel);
  return from - Math.min(most, Math.max(0, margin)) * sourcePerPixel;
}

/** Mean ink of the square of side `side` at (x0, y0): pixels at its rim count by the part that lies inside. */
function covered(
  ink: ArrayLike<number>,
  width: number,
  height: number,
  x0: number,
  y0: number,
  side: number,
): number {
  const x1 = x0 + side;
  const y1 = y0 + side;
  const lastX = Math.min(width, Math.ceil(x1));
  const lastY = Math.min(height, Math.ceil(y1));
  let sum = 0;
  for (let y = Math.max(0, Math.floor(y0)); y < lastY; y++) {
    const tall = Math.min(y + 1, y1) - Math.max(y, y0);
    for (let x = Math.max(0, Math.floor(x0)); x < lastX; x++) {
      sum += ink[y * width + x] * tall * (Math.min(x + 1, x1) - Math.max(x, x0));
    }
  }
  return Math.min(1, sum / (side * side));
}
