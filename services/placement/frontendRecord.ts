import { z } from 'zod';
import type { Json } from '../../selection/index.js';

/** Of a version whose number of replicas follows the load; what `VersionLoad` says. */
const LOAD = z.object({
  model: z.string(),
  version: z.string(),
  replicas: z.record(z.string(), z.number()),
  backlog: z.number(),
});

const FRONTEND_RECORD = z.object({
  query: z.string(),
  management: z.string(),
  placing: z.boolean(),
  // Not of frontends that are a version behind.
  loads: z.array(LOAD).default([]),
});

export type SharedLoad = z.output<typeof LOAD>;

/** What a frontend says of itself in the cluster: addresses of its interfaces, whether it places, and what it has to do. */
export type FrontendRecord = z.output<typeof FRONTEND_RECORD>;

/** It is said twice a second. */
const MOST_LOADS = 256;
const DIGITS = 1000;

/** @returns undefined for what is none */
export function readFrontendRecord(json: Json): FrontendRecord | undefined {
  const read = FRONTEND_RECORD.safeParse(json);
  return read.success ? read.data : undefined;
}

/** Idle versions are left out, and digits that nobody needs. */
export function shortLoads(loads: readonly SharedLoad[]): readonly SharedLoad[] {
  const short = loads.flatMap(({ replicas, backlog, ...version }) => {
    const busy = Object.entries(replicas).flatMap(([replica, share]) =>
      rounded(share) > 0 ? [[replica, rounded(share)] as const] : [],
    );
    if (busy.length === 0 && rounded(backlog) === 0) return [];
    return [{ ...version, replicas: Object.fromEntries(busy), backlog: rounded(backlog) }];
  });
  return short.slice(0, MOST_LOADS);
}

function rounded(value: number): number {
  return Math.round(value * DIGITS) / DIGITS;
}
