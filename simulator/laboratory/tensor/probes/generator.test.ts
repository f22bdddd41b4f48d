import { describe, expect, it } from 'vitest';
import { kernelFixture, runFixture } from '../../kernels/index.js';
import type { TileForm } from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import { planForm, PlanBytes, seedOf } from '../card/plan.js';
import { chunkTiles, fillTile, modeNames, moveAreas, tileAreas } from './index.js';

const forms: readonly (TileForm | MoveForm)[] = [...tileForms, ...moveForms].filter(({ name }) =>
  [
    'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',
    'mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32',
    'mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32',
    'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64',
    'mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32',
    'mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 0',
    'mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 3',
    'ldmatrix.sync.aligned.m8n8.x2.shared.b16',
    'wmma.mma.sync.aligned.row.row.m32n8k16.s32.s8.s8.s32',
  ].includes(name),
);

/** One tile of each mode is compared. */
const tiles = modeNames.map((_, mode) => mode * chunkTiles + 3);

describe('the generator of a card, run by the simulator', () => {
  it.each(forms.map((form) => [form.name, form] as const))('makes the inputs of %s', (name, form) => {
    const bytes = new PlanBytes();
    const plan = planForm(form, 0, bytes);
    const data = Buffer.from(bytes.all());
    const areas = 'shape' in form ? tileAreas(form) : moveAreas(form);
    const launches = plan.areas.flatMap((area, index) =>
      tiles.map((tile, at) => ({
        kernel: 'fill',
        grid: Math.ceil(area.units / 256),
        block: 256,
        args: [
          { buffer: `out${at}` },
          { buffer: `map${index}` },
          { buffer: `modes${index}` },
          {
            struct: [
              [1, tile, plan.inputWords, area.offset, area.units, area.slots, area.elementBits, area.kind],
              [area.operand, seedOf(name), area.pairStride, area.pairExtent, chunkTiles, modeNames.length],
              [area.exponentBits, area.fractionBits, area.paddingBits, area.hasInfinity, area.bias],
            ].flatMap((fields) => fields.map((u32) => ({ u32 }))),
          },
        ],
      })),
    );
    const buffers = (): Record<string, Uint32Array> => ({
      ...Object.fromEntries(tiles.map((_, at) => [`out${at}`, new Uint32Array(plan.inputWords)])),
      ...Object.fromEntries(
        plan.areas.flatMap((area, index) => {
          const size = 2 * area.units * area.slots;
          const map = area.map < 0 ? new Uint8Array(4) : data.subarray(area.map, area.map + size);
          const padded = new Uint8Array(Math.ceil(map.length / 4) * 4);
          padded.set(map);
          return [
            [`map${index}`, new Uint32Array(padded.buffer)],
            [`modes${index}`, Uint32Array.from([...area.modes.flat(), 0])],
          ];
        }),
      ),
    });
    const fixture = kernelFixture({
      ptx: new URL('./generator.ptx', import.meta.url),
      buffers,
      launches,
      reference: () => undefined,
      outputs: {},
    });
    const result = runFixture(fixture, 'fast');
    tiles.forEach((tile, at) => {
      expect(result.buffers[`out${at}`]).toEqual(fillTile(areas, seedOf(name), tile, plan.inputWords));
    });
  });
});
