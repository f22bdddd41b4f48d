import type { Command } from 'commander';
import { eachOne } from './optionValues.js';

/** Options of `serve` about nodes in processes of their own. */
export interface DialChoice {
  /** Addresses. */
  readonly node?: readonly string[];
  readonly onlyNodes?: true;
  readonly clusterKeyFile?: string;
  readonly nodeTlsCa?: string;
  readonly nodeTlsCert?: string;
  readonly nodeTlsKey?: string;
}

export function addDialOptions(command: Command): Command {
  return command
    .option(
      '--node <url>',
      'a GPU node in a process of its own, tcp://HOST:PORT or tls://HOST:PORT, NAME@ before the host if it must have that name; may be given again',
      eachOne,
    )
    .option('--only-nodes', 'no GPUs in this process: the nodes run everything')
    .option('--cluster-key-file <file>', 'holds the key that the nodes have: docs/guides/nodes.md')
    .option('--node-tls-ca <file>', 'PEM of authorities that nodes at tls:// must have a certificate of')
    .option('--node-tls-cert <file>', 'PEM of a certificate to show to nodes that ask for one')
    .option('--node-tls-key <file>', 'PEM of its key');
}
