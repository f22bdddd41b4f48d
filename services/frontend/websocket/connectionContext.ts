import type { Gate } from '../../access/index.js';
import type { BodyBudget } from '../../http/index.js';
import type { ExchangeContext } from '../exchanges.js';
import type { RouteTable } from '../routeTable.js';
import type { FrameWriter } from './frameWriter.js';
import type { WebSocketLimits } from './limits.js';

/** Has something to write. */
export interface Flushed {
  flush(): void;
}

/** What the connections of a frontend share. */
export interface ConnectionContext extends ExchangeContext {
  readonly routes: RouteTable;
  readonly limits: WebSocketLimits;
  readonly budget: BodyBudget;
  readonly gate: Gate | undefined;
  readonly frames: FrameWriter;
  /** Nothing new is taken any more. */
  isDraining(): boolean;
  /** Calls its `flush` once what happens now has happened. */
  flushSoon(connection: Flushed): void;
}
