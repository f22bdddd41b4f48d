import { z } from 'zod';
import { ProtocolError } from '../../protocol/index.js';
import type { NodeReport } from '../nodeHost.js';

/** Stands for an array of doubles, which JSON has not. */
const DOUBLES = '$doubles';

const optionalNumber = z.number().optional();
const report = z.looseObject({
  node: z.string(),
  replicas: z.number(),
  busyHostSeconds: z.number(),
  busySimulatedSeconds: z.number(),
  dilation: optionalNumber,
  hostBusyShare: optionalNumber,
  clockLagSeconds: z.number(),
  room: z.looseObject({
    backingBytes: z.number(),
    freeBackingBytes: z.number(),
    gpus: z.array(z.looseObject({ card: z.string(), freeBytes: z.number(), declaredBytes: z.number() })),
    holders: z.array(
      z.looseObject({ gpu: z.number(), model: z.string(), version: z.string(), replica: z.string() }),
    ),
  }),
  gpus: z.array(z.looseObject({ gpu: z.number(), profile: z.string() })),
  spans: z.array(z.looseObject({ latest: z.looseObject({ gpu: z.number(), profile: z.string() }) })),
});

/** Of a node that has no GPUs, or that nobody hears. */
export function idleReport(node: string): NodeReport {
  return {
    node,
    replicas: 0,
    busyHostSeconds: 0,
    busySimulatedSeconds: 0,
    dilation: undefined,
    hostBusyShare: undefined,
    clockLagSeconds: 0,
    room: { node, backingBytes: 0, freeBackingBytes: 0, gpus: [], holders: [] },
    gpus: [],
    spans: [],
  };
}

/** A report as plain JSON. */
export function packReport(found: NodeReport): unknown {
  return JSON.parse(
    JSON.stringify(found, (_name, value: unknown) =>
      value instanceof Float64Array ? { [DOUBLES]: Array.from(value) } : value,
    ),
  );
}

/** @param node whose report it is, whatever it says. @throws ProtocolError */
export function unpackReport(packed: unknown, node: string): NodeReport {
  const found = report.safeParse(packed);
  if (!found.success) throw new ProtocolError(`a report: ${found.error.issues[0].message}`);
  const { room, ...rest } = withDoubles(found.data) as NodeReport;
  return { ...rest, node, room: { ...room, node } };
}

function withDoubles(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withDoubles);
  if (DOUBLES in value && Array.isArray(value[DOUBLES])) return Float64Array.from(value[DOUBLES] as number[]);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withDoubles(each)]));
}
