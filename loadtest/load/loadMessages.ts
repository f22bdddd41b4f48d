import type { LoadImage } from './loadCounts.js';
import type { LoadPlan } from './loadPlan.js';
import type { RunProgress } from './loadRun.js';

export type ToProcess =
  | { readonly kind: 'plan'; readonly plan: LoadPlan; readonly part: number }
  | { readonly kind: 'start'; readonly startNs: number }
  | { readonly kind: 'end' };

export type ToParent =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly progress: RunProgress }
  | { readonly kind: 'counts'; readonly image: LoadImage }
  | { readonly kind: 'failed'; readonly message: string };
