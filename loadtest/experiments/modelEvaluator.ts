import { resolve } from 'node:path';
import {
  comparison,
  type CalibratedLaunch,
  type MeasuredLaunch,
} from '../../simulator/laboratory/calibration/index.js';
import type { DeviceProfile, GpuDevice } from '../../simulator/gpu/index.js';
import type { TimingRule } from '../../simulator/gpu/testing/index.js';
import {
  NodeSession,
  entryOf,
  placeSpec,
  readPtx,
  type LaunchSpec,
} from '../../simulator/launchSpec/index.js';
import { CountedExecutor, CountedLaunch } from './countedExecutor.js';

/** Figures that come in after a kernel was traced: a trace made under other values of them serves as well. */
const AFTER_TRACE: ReadonlySet<string> = new Set([
  'launchOverheadNs',
  'launchOverlapNs',
  'overlapExponent',
  'togetherExponent',
  'chainExponent',
  'l2BytesPerSecond',
  'dramBytesPerSecond',
  'l2MissCurve',
  'l2PortBytesPerCycle',
  'blocksPerCycle',
  'issuePerCycle',
  'integerPerCycle',
  'float32PerCycle',
  'float64PerCycle',
  'specialPerCycle',
  'atomicsPerCycle',
  'atomicsPerAddressPerCycle',
]);
/** Rules of the same kind. */
const RULES_AFTER_TRACE: ReadonlySet<TimingRule> = new Set(['waves', 'unevenBlocks']);

type KeptProfiles = GpuDevice['state']['profiles'];

/**
 * Holds measured launches against the timing model under any figures of the card. Kernels run the first time only; then
 * what they executed and accessed is replayed, and all of the model, its tracer too, works on that.
 */
export class ModelEvaluator {
  private readonly tapes = new Map<MeasuredLaunch, CountedLaunch>();
  private readonly texts = new Map<string, string>();
  /** What tracing found, by the launch and the figures that it depends on. */
  private readonly kept = new Map<string, KeptProfiles>();

  constructor(private readonly launches: readonly MeasuredLaunch[]) {}

  /** @param kernel whose launches are asked for, if not all */
  evaluate(card: DeviceProfile, kernel?: string): CalibratedLaunch[] {
    const asked = this.launches.filter(({ spec }) => kernel === undefined || spec.kernel === kernel);
    return asked.map((launch) => {
      const simulatedUs = this.durationUs(launch, card);
      const { name, spec, durationUs } = launch;
      return { name, kernel: spec.kernel, ...comparison(durationUs, simulatedUs) };
    });
  }

  private durationUs(measured: MeasuredLaunch, card: DeviceProfile): number {
    const { folder } = measured;
    const known = this.tapes.get(measured);
    const spec = known === undefined ? measured.spec : withoutContents(measured.spec);
    const text = this.textOf(resolve(folder, spec.ptx), spec.kernel);
    const tape = known ?? new CountedLaunch();
    this.tapes.set(measured, tape);
    const session = new NodeSession({
      gpus: [card],
      executor: (memory) => new CountedExecutor(memory, tape),
    });
    try {
      const { handle: module = 0, symbols = [] } = session.call('moduleLoad', { ptx: text, file: spec.ptx });
      const { params } = placeSpec(spec, entryOf(text, spec), {
        allocate: (bytes) => session.call('malloc', { bytes }).address ?? 0,
        write: (address, bytes) => {
          session.call('memcpyHostToDevice', { address, bytes, pinned: true });
        },
        free: (address) => session.call('free', { address }),
        createObject: (resource, sampler) => session.call('objectCreate', { resource, sampler }).handle ?? 0,
        symbols,
      });
      const device = session.node.device(0);
      const key = `${measured.name} ${tracedFigures(card)}`;
      const kept = this.kept.get(key);
      if (kept !== undefined) device.takeOverProfiles(kept);
      device.warmNextLaunch();
      const { kernel, grid, block, dynamicSharedBytes, cooperative } = spec;
      const args = { module, kernel, grid, block, dynamicSharedBytes, params, cooperative };
      const { launch } = session.call('launch', args);
      if (launch === undefined) throw new Error(`${measured.name}: the launch gave no report`);
      this.kept.set(key, device.state.profiles);
      return (launch.endNs - launch.startNs) / 1000;
    } finally {
      session.node.close();
    }
  }

  private textOf(path: string, kernel: string): string {
    const key = `${path} ${kernel}`;
    let text = this.texts.get(key);
    if (text === undefined) this.texts.set(key, (text = onlyEntry(readPtx(path), kernel)));
    return text;
  }
}

/** A module without its other kernels, which would be read anew at each evaluation. */
function onlyEntry(ptx: string, kernel: string): string {
  const starts = /^(?:\.visible )?\.entry (\w+)\(/gm;
  let kept = '';
  let from = 0;
  for (let match = starts.exec(ptx); match !== null; match = starts.exec(ptx)) {
    const end = endOfBody(ptx, match.index);
    kept += ptx.slice(from, match[1] === kernel ? end : match.index);
    from = end;
  }
  return kept + ptx.slice(from);
}

/** Where the braces that open behind a place are closed again. */
function endOfBody(ptx: string, start: number): number {
  let at = ptx.indexOf('{', start) + 1;
  for (let open = 1; open > 0 && at < ptx.length; at++) {
    if (ptx[at] === '{') open += 1;
    else if (ptx[at] === '}') open -= 1;
  }
  return at;
}

/** Where nothing runs, nobody reads what buffers hold. */
function withoutContents(spec: LaunchSpec): LaunchSpec {
  const args = spec.args.map((argument) => {
    if (!('buffer' in argument)) return argument;
    const { type, count, out, freed } = argument.buffer;
    return { buffer: { type, count, out, freed } };
  });
  return { ...spec, args };
}

function tracedFigures(card: DeviceProfile): string {
  const withoutRules = card.timing.withoutRules?.filter((rule) => !RULES_AFTER_TRACE.has(rule)) ?? [];
  const timing = Object.entries({ ...card.timing, withoutRules }).filter(([name]) => !AFTER_TRACE.has(name));
  return JSON.stringify({ ...card, timing });
}
