import { kernelFixture } from '../kernelFixture.js';

const [width, height] = [20, 14];
type Vector = readonly [number, number, number];
/** Centre, radius, colour, mirror. */
const spheres: readonly { centre: Vector; radius: number; colour: Vector; mirror: boolean }[] = [
  { centre: [0.3, 0.1, 0.2], radius: 1.1, colour: [0.9, 0.2, 0.1], mirror: true },
  { centre: [-1.4, -0.6, 1], radius: 0.8, colour: [0.1, 0.8, 0.3], mirror: false },
  { centre: [1.6, 0.9, 2.5], radius: 1.2, colour: [0.2, 0.3, 0.9], mirror: false },
];
const light: Vector = [0.6, -0.64, -0.48];

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const along = (o: Vector, d: Vector, t: number): Vector => [
  o[0] + d[0] * t,
  o[1] + d[1] * t,
  o[2] + d[2] * t,
];
const unit = (v: Vector): Vector => along([0, 0, 0], v, 1 / Math.sqrt(dot(v, v)));

/** Colour and the sphere that the eye sees. */
function trace(x: number, y: number): readonly [Vector, number] {
  let origin: Vector = [0, 0, -5];
  let direction = unit([(x - width / 2) / width, (y - height / 2) / height, 1]);
  let colour: Vector = [0, 0, 0];
  let seen = -1;
  for (let bounce = 0; bounce < 2; bounce++) {
    let [nearest, hit] = [Infinity, -1];
    spheres.forEach(({ centre, radius }, s) => {
      const to = along(centre, origin, -1);
      const middle = dot(to, direction);
      const off = dot(to, to) - middle ** 2;
      const t = middle - Math.sqrt(radius ** 2 - off);
      if (t > 1e-3 && t < nearest) [nearest, hit] = [t, s];
    });
    if (bounce === 0) seen = hit;
    if (hit < 0) return [along(colour, [1, 0, 0], 0.1), seen];
    const sphere = spheres[hit];
    const place = along(origin, direction, nearest);
    const normal = unit(along(place, sphere.centre, -1));
    colour = along(colour, sphere.colour, Math.max(0, dot(normal, light)));
    if (!sphere.mirror) break;
    direction = along(direction, normal, -2 * dot(direction, normal));
    origin = place;
  }
  return [colour, seen];
}

export const raySpheres = kernelFixture({
  ptx: new URL('./raySpheres.ptx', import.meta.url),
  buffers: () => {
    const packed = new Float32Array(8 * spheres.length);
    spheres.forEach(({ centre, radius, colour, mirror }, s) => {
      packed.set([...centre, radius, ...colour], 8 * s);
      new Int32Array(packed.buffer)[8 * s + 7] = mirror ? 1 : 0;
    });
    return {
      spheres: packed,
      image: new Float32Array(4 * width * height),
      hits: new Int32Array(width * height),
    };
  },
  launches: [
    {
      kernel: 'raySpheres',
      grid: [3, 4],
      block: [8, 4],
      args: [
        { buffer: 'spheres' },
        { i32: spheres.length },
        { buffer: 'image' },
        { buffer: 'hits' },
        { i32: width },
        { i32: height },
      ],
    },
  ],
  reference: ({ image, hits }) => {
    for (let at = 0; at < width * height; at++) {
      const [colour, seen] = trace(at % width, Math.floor(at / width));
      image.set([...colour, 1], 4 * at);
      hits[at] = seen;
    }
  },
  outputs: { image: { absolute: 2e-4 }, hits: 'exact' },
});
