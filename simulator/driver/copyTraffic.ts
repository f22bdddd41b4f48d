import type { AddressSpace } from '../executor/index.js';
import type { DeviceProfile } from '../gpu/index.js';
import type { DriverCommand, DriverResult } from './commands.js';
import { Refusal } from './refusal.js';
import { HOST_CPU_LINK, hostLink, type LinkUse } from './sharedLinks.js';

export type CopyCommand = Extract<
  DriverCommand,
  { op: 'memcpyHostToDevice' | 'memcpyDeviceToHost' | 'memcpyDeviceToDevice' | 'memcpyPeer' | 'memset' }
>;

/** What a copy costs: which engine serves it, its fixed latency, and the flow behind it. */
export interface CopyPlan {
  readonly engine: string;
  readonly latencyNs: number;
  readonly bytes: number;
  readonly uses: readonly LinkUse[];
  readonly mostPerNs: number;
}

export function copyPlan(
  command: CopyCommand,
  gpu: number,
  peerGpu: number,
  profile: DeviceProfile,
): CopyPlan {
  const { copies, memory } = profile;
  const link = copies.hostLinkBytesPerSecond / 1e9;
  switch (command.op) {
    case 'memcpyHostToDevice':
    case 'memcpyDeviceToHost': {
      const toDevice = command.op === 'memcpyHostToDevice';
      const bytes = toDevice ? command.args.bytes.length : command.args.bytes;
      const uses: LinkUse[] = [{ link: hostLink(gpu, toDevice ? 'toDevice' : 'toHost'), weight: 1 }];
      const staging = copies.stagingBytesPerSecond / 1e9;
      // Pageable memory goes through a staging buffer that a host core fills or empties meanwhile.
      if (!command.args.pinned) uses.push({ link: HOST_CPU_LINK, weight: 1 / staging });
      return {
        engine: `gpu${gpu}:${toDevice ? 'toDevice' : 'toHost'}`,
        latencyNs: toDevice ? copies.hostToDeviceLatencyNs : copies.deviceToHostLatencyNs,
        bytes,
        uses,
        mostPerNs: command.args.pinned ? link : Math.min(link, staging),
      };
    }
    case 'memcpyDeviceToDevice': {
      const { bytes } = command.args;
      const cached = 2 * bytes <= memory.l2Bytes;
      return {
        engine: `gpu${gpu}:device`,
        latencyNs: copies.deviceToDeviceLatencyNs,
        bytes,
        uses: [],
        mostPerNs:
          (cached ? copies.deviceToDeviceL2BytesPerSecond : copies.deviceToDeviceBytesPerSecond) / 1e9,
      };
    }
    case 'memcpyPeer':
      return {
        engine: `gpu${gpu}:toHost`,
        latencyNs: copies.peerLatencyNs,
        bytes: command.args.bytes,
        uses: [
          { link: hostLink(gpu, 'toHost'), weight: 1 },
          { link: hostLink(peerGpu, 'toDevice'), weight: 1 },
        ],
        mostPerNs: link,
      };
    case 'memset':
      return {
        engine: `gpu${gpu}:device`,
        latencyNs: copies.deviceToDeviceLatencyNs / 2,
        bytes: command.args.bytes,
        uses: [],
        mostPerNs: copies.memsetBytesPerSecond / 1e9,
      };
  }
}

/** @throws Refusal when a range that the copy reads or writes is not inside one allocation. */
export function checkCopy(command: CopyCommand, space: AddressSpace, peer: AddressSpace | undefined): void {
  switch (command.op) {
    case 'memcpyHostToDevice':
      checkRange(space, 'address', command.args.address, command.args.bytes.length);
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

/** Moves the bytes. Ranges are checked anew: an allocation may have gone since the command was submitted. */
export function performCopy(
  command: CopyCommand,
  space: AddressSpace,
  peer: AddressSpace | undefined,
): DriverResult {
  checkCopy(command, space, peer);
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
  const left = segment.virtualAddress + segment.bytes - address;
  if (bytes > left) {
    throw new Refusal(
      'invalidValue',
      `${field}: ${bytes} bytes from 0x${address.toString(16)} leave their allocation, which has ${left} left there`,
    );
  }
}
