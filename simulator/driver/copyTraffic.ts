import type { AddressSpace } from '../executor/index.js';
import type { DeviceProfile } from '../gpu/index.js';
import type { DriverCommand, DriverResult } from './commands.js';
import { Refusal } from './refusal.js';
import { hostLink, type LinkUse } from './sharedLinks.js';

export type CopyCommand = Extract<
  DriverCommand,
  { op: 'memcpyHostToDevice' | 'memcpyDeviceToHost' | 'memcpyDeviceToDevice' | 'memcpyPeer' | 'memset' }
>;

/** What a copy by an engine costs: which one serves it, its fixed latency, and the flow behind it. */
export interface CopyPlan {
  readonly engine: string;
  readonly latencyNs: number;
  readonly bytes: number;
  readonly uses: readonly LinkUse[];
  readonly mostPerNs: number;
  /** Host core time after the last byte, when a host core brings the bytes from a staging buffer to pageable memory. */
  readonly unstageNs?: number;
}

/** Bytes of a copy to the device that count for time. */
export function sentBytes({ args }: Extract<CopyCommand, { op: 'memcpyHostToDevice' }>): number {
  return args.declaredBytes ?? args.bytes.length;
}

/** Copies inside the device, and all fills but small ones, are kernels on the card. */
export function runsOnSms(command: CopyCommand, profile: DeviceProfile): boolean {
  if (command.op === 'memcpyDeviceToDevice') return command.args.bytes > 0;
  return command.op === 'memset' && command.args.bytes >= profile.copies.fillKernelBytes;
}

/** Few bytes that travel in the command itself, and small fills: the device's front end writes them. */
export function isInline(
  command: Extract<CopyCommand, { op: 'memset' | 'memcpyHostToDevice' }>,
  profile: DeviceProfile,
): boolean {
  if (command.op === 'memset') return !runsOnSms(command, profile);
  return !command.args.pinned && sentBytes(command) <= profile.copies.inlineCopyBytes;
}

/** Of a copy that no SMs do. */
export function copyPlan(
  command: CopyCommand,
  gpu: number,
  peerGpu: number,
  profile: DeviceProfile,
): CopyPlan {
  const { copies } = profile;
  const link = copies.hostLinkBytesPerSecond / 1e9;
  switch (command.op) {
    case 'memcpyHostToDevice': {
      const bytes = sentBytes(command);
      // Others of pageable memory have been staged when the command is submitted.
      if (isInline(command, profile)) {
        return frontEnd(gpu, copies.inlineCopyNs, bytes, copies.inlineCopyBytesPerSecond);
      }
      return {
        engine: `gpu${gpu}:toDevice`,
        latencyNs: copies.hostToDeviceLatencyNs,
        bytes,
        uses: busUses(gpu, 'toDevice'),
        mostPerNs: link,
      };
    }
    case 'memcpyDeviceToHost': {
      const { bytes, pinned } = command.args;
      const plan = {
        engine: `gpu${gpu}:toHost`,
        latencyNs: copies.deviceToHostLatencyNs,
        bytes,
        uses: busUses(gpu, 'toHost'),
        mostPerNs: link,
      };
      return pinned ? plan : { ...plan, unstageNs: unstageNs(bytes, profile) };
    }
    case 'memcpyPeer':
      return {
        engine: `gpu${gpu}:toHost`,
        latencyNs: copies.peerLatencyNs,
        bytes: command.args.bytes,
        uses: [...busUses(gpu, 'toHost'), ...busUses(peerGpu, 'toDevice')],
        mostPerNs: link,
      };
    case 'memset':
      return frontEnd(gpu, copies.inlineFillNs, command.args.bytes, copies.inlineFillBytesPerSecond);
    case 'memcpyDeviceToDevice':
      return frontEnd(gpu, 0, command.args.bytes, copies.inlineFillBytesPerSecond);
  }
}

/** Written by the device's front end, in the order of what it reads. */
function frontEnd(gpu: number, latencyNs: number, bytes: number, bytesPerSecond: number): CopyPlan {
  return { engine: `gpu${gpu}:frontEnd`, latencyNs, bytes, uses: [], mostPerNs: bytesPerSecond / 1e9 };
}

function busUses(gpu: number, direction: 'toDevice' | 'toHost'): LinkUse[] {
  return [
    { link: hostLink(gpu, direction), weight: 1 },
    { link: hostLink(gpu, 'bothWays'), weight: 1 },
  ];
}

/** A host core follows the engine piece by piece and is slower: what it has left to do when the engine is done. */
function unstageNs(bytes: number, { copies }: DeviceProfile): number {
  const all = (bytes / copies.unstagingBytesPerSecond) * 1e9;
  const hidden = (Math.max(0, bytes - copies.stagingChunkBytes) / copies.hostLinkBytesPerSecond) * 1e9;
  return copies.unstagingNs + Math.max(0, all - hidden);
}

/** @throws Refusal when a range that the copy reads or writes is not inside one allocation. */
export function checkCopy(command: CopyCommand, space: AddressSpace, peer: AddressSpace | undefined): void {
  switch (command.op) {
    case 'memcpyHostToDevice':
      checkRange(space, 'address', command.args.address, sentBytes(command));
      return;
    case 'memcpyDeviceToHost':
      checkRange(space, 'address', command.args.address, command.args.bytes);
      return;
    case 'memcpyDeviceToDevice':
      checkRange(space, 'destination', command.args.destination, command.args.bytes);
      checkRange(space, 'source', command.args.source, command.args.bytes);
      return;
    case 'memcpyPeer':
      checkRange(space, 'source', command.args.source, command.args.bytes);
      if (peer !== undefined) checkRange(peer, 'destination', command.args.destination, command.args.bytes);
      return;
    case 'memset':
      if (!Number.isInteger(command.args.value) || command.args.value < 0 || command.args.value > 255) {
        throw new Refusal('invalidValue', `value: ${command.args.value} is not a byte, 0 to 255`);
      }
      checkRange(space, 'address', command.args.address, command.args.bytes);
      return;
  }
}

/** Moves the bytes, where memory has any. Ranges are checked anew: an allocation may have gone since the command was submitted. */
export function performCopy(
  command: CopyCommand,
  space: AddressSpace,
  peer: AddressSpace | undefined,
  isDeclaredOnly = false,
): DriverResult {
  checkCopy(command, space, peer);
  if (isDeclaredOnly) return {};
  switch (command.op) {
    case 'memcpyHostToDevice':
      if (command.args.bytes.length > 0) {
        space.view(command.args.address, command.args.bytes.length).set(command.args.bytes);
      }
      return {};
    case 'memcpyDeviceToHost':
      if (command.args.bytes === 0) return { bytes: new Uint8Array(0) };
      // A copy of the device's bytes: the view would show what later kernels write.
      return { bytes: new Uint8Array(space.view(command.args.address, command.args.bytes)) };
    case 'memcpyDeviceToDevice':
      if (command.args.bytes > 0) {
        space
          .view(command.args.destination, command.args.bytes)
          .set(space.view(command.args.source, command.args.bytes));
      }
      return {};
    case 'memcpyPeer':
      if (command.args.bytes > 0 && peer !== undefined) {
        peer
          .view(command.args.destination, command.args.bytes)
          .set(space.view(command.args.source, command.args.bytes));
      }
      return {};
    case 'memset':
      if (command.args.bytes > 0)
        space.view(command.args.address, command.args.bytes).fill(command.args.value);
      return {};
  }
}

/** Constant memory is read-only for kernels alone: copies set it, as `cudaMemcpyToSymbol` does. */
function checkRange(space: AddressSpace, field: string, address: number, bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new Refusal('invalidValue', `bytes: ${bytes} is not a whole number of bytes, 0 or more`);
  }
  if (bytes === 0) return;
  const segment = Number.isSafeInteger(address) ? space.find(address) : undefined;
  if (segment === undefined) {
    throw new Refusal('invalidValue', `${field}: no allocation holds 0x${address.toString(16)}`);
  }
  const left = segment.virtualAddress + segment.askedBytes - address;
  if (bytes > left) {
    throw new Refusal(
      'invalidValue',
      `${field}: ${bytes} bytes from 0x${address.toString(16)} leave their allocation, which has ${left} left there`,
    );
  }
}
