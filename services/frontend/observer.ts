import type { ErrorCode } from '../errors/index.js';

/** What the frontend tells whoever counts. `application` is set only for one that is registered: names stay bounded. */
export interface FrontendObserver {
  onRefused(application: string | undefined, code: ErrorCode): void;
}

export const UNOBSERVED: FrontendObserver = { onRefused: () => undefined };
