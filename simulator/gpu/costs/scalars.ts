import type { ExecutorLaunch } from '../../executor/index.js';
import { pointedSegments } from '../timing/index.js';

/** Argument bytes in hexadecimal, with zeros for the pointers: where buffers lie makes no other launch. */
export function scalarsOf(launch: ExecutorLaunch): string {
  const bytes = Buffer.from(launch.params);
  pointedSegments(launch).forEach((segment, index) => {
    if (segment === undefined) return;
    const { offset } = launch.kernel.parameters[index];
    bytes.fill(0, offset, offset + 8);
  });
  return bytes.toString('hex');
}
