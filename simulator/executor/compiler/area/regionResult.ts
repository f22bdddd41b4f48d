/** What a region function returns besides the state that all its lanes reached. */
export const REGION_RESULT = { mixed: 0x7ffffffe, fault: 0x7fffffff } as const;
