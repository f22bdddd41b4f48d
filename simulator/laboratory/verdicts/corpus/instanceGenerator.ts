import type { IrFunction, IrModule } from '../../../ptx/index.js';
import {
  OracleRandom,
  type InstanceAllocation,
  type InstanceArgument,
  type LaunchInstance,
  type PlacedPointer,
} from '../oracles/index.js';
import { evaluate, type Expression, type Sizes } from './expression.js';
import { filled } from './fills.js';
import {
  elementBytes,
  type KernelManifest,
  type ManifestParameter,
  type PointerParameter,
  type SizeRule,
} from './manifest.js';
import { placeBuffers, type BufferPlace, type Plan, type Placement } from './placement.js';

/** How often buffers lie in each way. */
const PLAN_WEIGHTS: Readonly<Record<Plan, number>> = {
  distinct: 56,
  pooled: 12,
  adjacent: 10,
  halves: 6,
  equal: 6,
  overlapping: 6,
  interior: 4,
};

/** A launch of a kernel of the corpus. */
export interface CorpusInstance extends LaunchInstance {
  readonly plan: Plan;
  readonly sizes: Sizes;
}

/**
 * Draws a launch of a kernel: sizes, dimensions, how its buffers lie, and what they hold.
 *
 * @param plan instead of one that is drawn
 */
export function drawInstance(
  manifest: KernelManifest,
  ir: IrModule,
  seed: number,
  plan?: Plan,
): CorpusInstance {
  const random = new OracleRandom(seed);
  const sizes = drawSizes(manifest.sizes, random);
  const kernel = ir.functions.find(({ isEntry, name }) => isEntry && name === manifest.entry);
  if (kernel === undefined) throw new RangeError(`${ir.file} has no entry ${manifest.entry}`);
  const pointers = manifest.parameters.flatMap(pointersOf);
  const placement = placeBuffers(
    pointers.map((pointer) => ({
      bytes: bytesOf(pointer, sizes),
      align: pointer.align,
      isWritten: pointer.role !== 'in',
      isApart: pointer.isApart,
    })),
    plan ?? drawPlan(random),
    random,
  );
  const allocations = placement.allocations.map((bytes) => ({ bytes: new Uint8Array(bytes) }));
  const links: PlacedPointer[][] = allocations.map(() => []);
  pointers.forEach((pointer, index) =>
    fillBuffer(pointer, index, { manifest, pointers, placement, sizes, random, allocations, links }),
  );
  const filledAllocations = allocations.map(({ bytes }, index): InstanceAllocation =>
    links[index]?.length === 0 ? { bytes } : { bytes, pointers: links[index] ?? [] },
  );
  const args = packArguments(manifest, kernel, new ArgumentPacker(pointers, placement, sizes, random));
  const extents = (of: readonly Expression[]) =>
    [0, 1, 2].map((axis) => Math.max(1, evaluate(of[axis] ?? 1, sizes))) as [number, number, number];
  const shape = {
    grid: extents(manifest.grid),
    block: extents(manifest.block),
    dynamicSharedBytes: evaluate(manifest.sharedBytes ?? 0, sizes),
  };
  return {
    ir,
    entry: manifest.entry,
    shape,
    allocations: filledAllocations,
    args,
    plan: placement.plan,
    sizes,
  };
}

function drawPlan(random: OracleRandom): Plan {
  const entries = Object.entries(PLAN_WEIGHTS) as [Plan, number][];
  let left = random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [plan, weight] of entries) {
    if (left < weight) return plan;
    left -= weight;
  }
  return 'distinct';
}

function drawSizes(rules: Readonly<Record<string, SizeRule>>, random: OracleRandom): Sizes {
  const sizes: Record<string, number> = {};
  for (const [name, rule] of Object.entries(rules)) sizes[name] = drawSize(rule, sizes, random);
  return sizes;
}

function drawSize(rule: SizeRule, sizes: Sizes, random: OracleRandom): number {
  switch (rule.rule) {
    case 'pick':
      return random.pick(rule.of);
    case 'value':
      return evaluate(rule.value, sizes);
    case 'range': {
      const least = evaluate(rule.least, sizes);
      return random.between(least, Math.max(least, evaluate(rule.most, sizes)));
    }
    case 'count': {
      const around = evaluate(rule.around ?? 1, sizes);
      if (random.chance(0.12)) return random.pick([0, 1]);
      const near = around * random.between(1, 2) + random.between(-1, 1);
      if (random.chance(0.2) && near <= rule.most) return near;
      return Math.floor(Math.exp((random.word() / 2 ** 32) * Math.log(rule.most + 1)));
    }
  }
}

function pointersOf(parameter: ManifestParameter): readonly PointerParameter[] {
  if (parameter.kind === 'struct') return parameter.members.flatMap(pointersOf);
  return parameter.kind === 'pointer' ? [parameter] : [];
}

function elementsOf(pointer: PointerParameter, sizes: Sizes): number {
  return Math.max(0, evaluate(pointer.count, sizes));
}

function bytesOf(pointer: PointerParameter, sizes: Sizes): number {
  return elementsOf(pointer, sizes) * elementBytes(pointer.type);
}

interface Filling {
  readonly manifest: KernelManifest;
  readonly pointers: readonly PointerParameter[];
  readonly placement: Placement;
  readonly sizes: Sizes;
  readonly random: OracleRandom;
  readonly allocations: readonly { readonly bytes: Uint8Array }[];
  readonly links: readonly PlacedPointer[][];
}

/** Buffers that share bytes hold what the last of them is filled with. */
function fillBuffer(pointer: PointerParameter, index: number, filling: Filling): void {
  const { manifest, pointers, placement, sizes, random, allocations, links } = filling;
  const place = placement.places[index];
  if (place === undefined) return;
  const count = elementsOf(pointer, sizes);
  const { fill } = pointer;
  const contents = filled(pointer.type, count, fill, sizes, random);
  allocations[place.allocation]?.bytes.set(contents, place.offset);
  if (typeof fill === 'string' || !('pointersTo' in fill)) return;
  const target = manifest.parameters[fill.pointersTo];
  const to = placement.places[target?.kind === 'pointer' ? pointers.indexOf(target) : -1];
  if (target?.kind !== 'pointer' || to === undefined) return;
  const stride = evaluate(fill.stride, sizes) * elementBytes(target.type);
  for (let element = 0; element < count; element++)
    links[place.allocation]?.push({
      at: place.offset + element * elementBytes(pointer.type),
      allocation: to.allocation,
      offset: to.offset + element * stride,
    });
}

/** Lays arguments out as C lays out the members of a structure. */
class ArgumentPacker {
  constructor(
    private readonly pointers: readonly PointerParameter[],
    private readonly placement: Placement,
    private readonly sizes: Sizes,
    private readonly random: OracleRandom,
  ) {}

  pack(parameter: ManifestParameter, width: number): InstanceArgument {
    const bytes = new Uint8Array(width);
    const view = new DataView(bytes.buffer);
    if (parameter.kind === 'pointer') return { bytes, pointers: [this.pointer(parameter, 0)] };
    if (parameter.kind !== 'struct') {
      this.scalar(view, parameter, 0, width);
      return { bytes };
    }
    const pointers: PlacedPointer[] = [];
    let at = 0;
    for (const member of parameter.members) {
      const size = member.kind === 'pointer' ? 8 : 4;
      at = Math.ceil(at / size) * size;
      if (member.kind === 'pointer') pointers.push(this.pointer(member, at));
      else if (member.kind !== 'struct') this.scalar(view, member, at, size);
      at += size;
    }
    return { bytes, pointers };
  }

  private pointer(parameter: PointerParameter, at: number): PlacedPointer {
    const place: BufferPlace = this.placement.places[this.pointers.indexOf(parameter)] ?? {
      allocation: 0,
      offset: 0,
    };
    const last = Math.max(0, bytesOf(parameter, this.sizes) - elementBytes(parameter.type));
    return {
      at,
      allocation: place.allocation,
      offset: place.offset + (parameter.startsAtEnd === true ? last : 0),
    };
  }

  private scalar(
    view: DataView,
    parameter: Extract<ManifestParameter, { kind: 'integer' | 'float' }>,
    at: number,
    width: number,
  ): void {
    if (parameter.kind === 'float') return view.setFloat32(at, this.random.pick(parameter.values), true);
    const value = evaluate(parameter.value, this.sizes);
    if (width === 8) view.setBigInt64(at, BigInt(value), true);
    else view.setUint32(at, value >>> 0, true);
  }
}

function packArguments(
  manifest: KernelManifest,
  kernel: IrFunction,
  packer: ArgumentPacker,
): InstanceArgument[] {
  const shown = manifest.parameters.filter(
    (parameter) => parameter.kind !== 'pointer' || parameter.isHidden !== true,
  );
  return shown.map((parameter, index) => packer.pack(parameter, kernel.parameters[index]?.bytes ?? 0));
}
