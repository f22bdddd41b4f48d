import { readFileSync } from 'node:fs';
import { readClusterKey, readNodeAddress } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { DialledNodes } from '../deployment/index.js';
import type { DialChoice } from './clusterOptions.js';
import { CommandError } from './commandError.js';

/** The nodes that a server's options name; undefined: none. @throws CommandError, LinkError */
export function dialledNodes(choice: DialChoice): DialledNodes | undefined {
  const { node: urls = [], onlyNodes, nodeTlsCa, nodeTlsCert, nodeTlsKey } = choice;
  if (urls.length === 0) {
    if (onlyNodes === true) throw new CommandError('--only-nodes needs nodes: give --node');
    return undefined;
  }
  if ((nodeTlsCert === undefined) !== (nodeTlsKey === undefined)) {
    throw new CommandError('--node-tls-cert and --node-tls-key go together');
  }
  const addresses = urls.map(readNodeAddress);
  if (nodeTlsCa ?? nodeTlsCert) {
    const plain = urls.find((_, index) => !addresses[index].isSecure);
    if (plain !== undefined) {
      throw new CommandError(`--node ${plain} speaks no TLS, which --node-tls-... is for: write tls://`);
    }
  }
  const ends = addresses.map(({ host, port }) => `${host}:${port}`);
  const twice = urls.find((_, index) => ends.indexOf(ends[index]) < index);
  if (twice !== undefined) throw new CommandError(`--node ${twice} is given twice`);
  return {
    addresses,
    key: clusterKey(choice.clusterKeyFile),
    tls: {
      ...(nodeTlsCa === undefined ? {} : { ca: read('--node-tls-ca', nodeTlsCa) }),
      ...(nodeTlsCert === undefined ? {} : { cert: read('--node-tls-cert', nodeTlsCert) }),
      ...(nodeTlsKey === undefined ? {} : { key: read('--node-tls-key', nodeTlsKey) }),
    },
    isOnly: onlyNodes === true,
  };
}

/** @throws CommandError */
export function clusterKey(file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined;
  try {
    return readClusterKey(file);
  } catch (error) {
    throw new CommandError(`--cluster-key-file: ${reasonOf(error)}`, { cause: error });
  }
}

function read(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`${option}: ${reasonOf(error)}`, { cause: error });
  }
}
