import type { MessagePort } from 'node:worker_threads';
import type { StoreFault } from '../store.js';
import type { StoreError } from '../storeError.js';
import type { MarkPut, Put, StoreContent } from './storeFiles.js';

export interface StoreThreadData {
  readonly directory: string;
  readonly isReadOnly: boolean;
  /** One number: 1 once the answer of the opening is on the port. */
  readonly opened: Int32Array;
  /** Gets an `OpeningOutcome`. */
  readonly port: MessagePort;
}

export type OpeningOutcome = StoreContent | { readonly code: StoreError['code']; readonly message: string };

export type StoreTask = { readonly id: number } & (
  | { readonly kind: 'commit'; readonly puts: readonly Put[]; readonly marks: MarkPut }
  | { readonly kind: 'trial'; readonly bytes: number }
  | { readonly kind: 'read'; readonly keys: readonly string[] }
  | { readonly kind: 'slice'; readonly folder: string; readonly from: string | undefined }
  | { readonly kind: 'close' }
);

export interface TaskOutcome {
  readonly id: number;
  readonly fault?: StoreFault;
  /** How much was to be written, with a fault. */
  readonly bytes?: number;
  /** Of a read, in the order of its keys. */
  readonly texts?: readonly (string | undefined)[];
  /** Of a slice, in key order. */
  readonly entries?: readonly (readonly [key: string, text: string])[];
}
