import { z } from 'zod';

/** When a client asks. Times in milliseconds. */
export type Load =
  | { readonly type: 'periodic'; readonly frequency: number; readonly priority?: number | undefined }
  | { readonly type: 'poisson'; readonly frequency: number }
  | { readonly type: 'continuous' }
  | { readonly type: 'trace'; readonly trace: readonly number[] };

export interface Task {
  readonly id: string;
  readonly model: string;
  readonly isRealTime: boolean;
  readonly load: Load;
}

/** Clients that share a card. */
export interface Workload {
  readonly name: string;
  readonly seconds: number;
  readonly tasks: readonly Task[];
}

const perSecond = z.number().positive();

const load = z.discriminatedUnion('type', [
  z.object({ type: z.literal('periodic'), frequency: perSecond, priority: z.int().optional() }),
  z.object({ type: z.literal('poisson'), frequency: perSecond }),
  z.object({ type: z.literal('continuous') }),
  z.object({ type: z.literal('trace'), trace: z.array(z.number().min(0)).min(1) }),
]);

const document = z.object({
  time: z.number().positive(),
  tasks: z
    .array(
      z.object({
        id: z.string().regex(/_(rt|be)$/, "ends with neither '_rt' (real time) nor '_be' (best effort)"),
        load,
        client: z.object({ model_name: z.string().min(1), batch_size: z.literal(1) }),
      }),
    )
    .min(1),
});

/** Reads a workload of DISB (SJTU-IPADS/disb). @throws Error that names the file and the field */
export function parseWorkload(text: string, name: string): Workload {
  const result = document.safeParse(JSON.parse(text));
  if (!result.success) {
    const [{ path, message }] = result.error.issues;
    throw new Error(`${name}: ${path.join('.')}: ${message}`);
  }
  const { time, tasks } = result.data;
  return {
    name,
    seconds: time,
    tasks: tasks.map(({ id, load: its, client }) => ({
      id,
      model: client.model_name.replace(/-imagenet$/, ''),
      isRealTime: id.endsWith('_rt'),
      load: its,
    })),
  };
}
