import { FileLedger } from '../jobs/index.js';
import { keyPrefix, type RedisAddress } from '../redis/index.js';
import { JobConnections } from './jobConnections.js';
import { LoadExchange } from './loadExchange.js';
import { SharedLedger, type SharedLedgerOptions } from './sharedLedger.js';

export interface JobQueueSettings {
  readonly address: RedisAddress;
  /** Of all keys, without braces. */
  readonly prefix: string;
}

export interface SharedJobsOptions extends Pick<SharedLedgerOptions, 'frontend' | 'mostBytes' | 'complain'> {
  /** Where jobs are on their way to Redis. */
  readonly folder: string;
  /** It goes with the process: while Redis is away no jobs are taken. */
  readonly isTemporary: boolean;
}

export interface SharedJobs {
  readonly ledger: SharedLedger;
  /** Between frontends that share their models. */
  readonly loads: LoadExchange;
}

/** Connections for jobs, and what is made of them once the frontend has a name. */
export interface SharedJobsMaker {
  /** @throws JobError (as a rejection) `unusable`; the connections are closed then */
  make(options: SharedJobsOptions): Promise<SharedJobs>;
  /** Where nothing was made of them. */
  close(): void;
}

/** @throws RedisError (as a rejection) when Redis cannot be named, reached or used */
export async function openJobQueue({ address, prefix }: JobQueueSettings): Promise<SharedJobsMaker> {
  const braced = keyPrefix(prefix);
  const connections = await JobConnections.open(address);
  return {
    make: async ({ folder, isTemporary, ...options }) => {
      let spool: FileLedger;
      try {
        spool = await FileLedger.open(folder, options.mostBytes, isTemporary);
      } catch (error) {
        connections.close();
        throw error;
      }
      const ledger = new SharedLedger({
        ...options,
        connections,
        address,
        prefix: braced,
        spool,
        isSpoolKept: !isTemporary,
      });
      return { ledger, loads: new LoadExchange(connections.commands, braced, options.frontend) };
    },
    close: () => connections.close(),
  };
}
