/** What a key may be allowed. `admin` implies the others: who makes keys could make one for them anyway. */
export const SCOPES = ['predict', 'feedback', 'metrics', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a key can be limited to by name. */
export type TargetKind = 'application' | 'model';
