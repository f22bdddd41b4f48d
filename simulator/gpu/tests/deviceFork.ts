import { FifoPolicy, type SchedulingPolicy } from '../../scheduling/index.js';
import { VirtualClock } from '../../time/index.js';
import { Agenda, GpuDevice, type BlockReport, type DeviceState } from '../index.js';
import { H200, type KnownDevice } from './knownLaunches.js';

/** A device in the state of another, on a clock of its own, with the other's pending events. */
export function forkOf(
  { gpu, clock, agenda }: KnownDevice,
  policy: SchedulingPolicy = new FifoPolicy(),
): {
  readonly gpu: GpuDevice;
  readonly clock: VirtualClock;
  readonly blocks: BlockReport[];
} {
  gpu.save();
  const state: DeviceState = structuredClone(gpu.state);
  const forked = new VirtualClock();
  forked.advanceTo(clock.nowNs());
  const blocks: BlockReport[] = [];
  const copy = new Agenda(forked, 'node');
  const device = new GpuDevice(
    H200,
    'gpu',
    copy,
    policy,
    {
      source: {
        executorLaunch: () => {
          throw new Error('launches of known work have no code');
        },
        moduleIdentity: () => '',
      },
      fuelPerBlock: 1,
    },
    { onLaunchEnd: () => undefined, onBlocksDone: (reports) => blocks.push(...reports) },
    state,
  );
  copy.restore(agenda.snapshot(), agenda.sequence);
  return { gpu: device, clock: forked, blocks };
}
