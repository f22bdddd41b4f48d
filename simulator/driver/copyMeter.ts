import type { DeviceProfile } from '../gpu/index.js';
import { runsOnSms, sentBytes, type CopyCommand } from './copyTraffic.js';

/** Bytes that copies of one GPU have moved since counting began. Plain data. */
export interface CopyUsage {
  /** Over the host's bus, into the GPU and out of it. */
  readonly toDeviceBytes: number;
  readonly toHostBytes: number;
  /** Read from its memory and written to it, but for what SMs copy and fill: that counts with what they do. */
  readonly memoryBytes: number;
}

interface Sums {
  toDeviceBytes: number;
  toHostBytes: number;
  memoryBytes: number;
}

/** Counts finished copies; no part of the state that they change. */
export class CopyMeter {
  private readonly sums: Sums[] = [];

  /** @param peerGpu where a copy between GPUs writes */
  add(command: CopyCommand, gpu: number, peerGpu: number, profile: DeviceProfile): void {
    if (runsOnSms(command, profile)) return;
    const sums = this.of(gpu);
    switch (command.op) {
      case 'memcpyHostToDevice':
        sums.toDeviceBytes += sentBytes(command);
        sums.memoryBytes += sentBytes(command);
        return;
      case 'memcpyDeviceToHost':
        sums.toHostBytes += command.args.bytes;
        sums.memoryBytes += command.args.bytes;
        return;
      case 'memcpyPeer': {
        const peer = this.of(peerGpu);
        sums.toHostBytes += command.args.bytes;
        sums.memoryBytes += command.args.bytes;
        peer.toDeviceBytes += command.args.bytes;
        peer.memoryBytes += command.args.bytes;
        return;
      }
      case 'memcpyDeviceToDevice':
      case 'memset':
        sums.memoryBytes += command.args.bytes;
        return;
    }
  }

  usage(gpu: number): CopyUsage {
    return { ...this.of(gpu) };
  }

  private of(gpu: number): Sums {
    return (this.sums[gpu] ??= { toDeviceBytes: 0, toHostBytes: 0, memoryBytes: 0 });
  }
}
