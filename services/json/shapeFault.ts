import type { z } from 'zod';

/** What is wrong with a value, with the field where it is; undefined: it has this shape. */
export function shapeFault(shape: z.ZodType, value: unknown): string | undefined {
  const issue = shape.safeParse(value).error?.issues[0];
  if (issue === undefined) return undefined;
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
