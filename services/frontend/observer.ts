import type { ErrorCode } from '../errors/index.js';

/** What was refused: an input that was to be predicted, or feedback. */
export type RefusedPart = 'query' | 'feedback';

/** What the frontend tells whoever counts. `application` is set only for one that is registered: names stay bounded. */
export interface FrontendObserver {
  /** @param part a query unless said otherwise. */
  onRefused(application: string | undefined, code: ErrorCode, part?: RefusedPart): void;
}

export const UNOBSERVED: FrontendObserver = { onRefused: () => undefined };
