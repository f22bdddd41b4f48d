import { readClusterKey, readNodeAddress } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { DialledNodes } from '../deployment/index.js';
import type { Complaint } from '../errors/index.js';
import type { ClusterOption } from '../main.js';
import type { DialChoice } from './clusterOptions.js';
import { openClusterRedis } from './clusterRedis.js';
import { CommandError } from './commandError.js';
import { optionPem } from './optionFile.js';
import type { SharedStoreOption } from './storeOption.js';

/** How nodes are known to be the cluster's, and this side to them. */
type NodeTrust = Pick<DialledNodes, 'key' | 'tls'>;

/** The nodes that a server's options name; undefined: none. @throws CommandError, LinkError */
export function dialledNodes(choice: DialChoice): DialledNodes | undefined {
  const { node: urls = [], onlyNodes, nodeTlsCa, nodeTlsCert } = choice;
  if (urls.length === 0) return undefined;
  const trust = nodeTrust(choice);
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
  return { addresses, ...trust, isOnly: onlyNodes === true };
}

/**
 * The cluster whose nodes run everything: those that have joined it through the store that is shared; undefined: none.
 * @throws CommandError
 */
export function joinedCluster(
  choice: DialChoice & { readonly bundleDir?: string },
  shared: SharedStoreOption | undefined,
  complain: Complaint,
): ClusterOption | undefined {
  const { node: urls = [], onlyNodes } = choice;
  if (onlyNodes !== true || urls.length > 0) {
    if (choice.bundleDir === undefined) return undefined;
    throw new CommandError(
      '--bundle-dir is for nodes that have joined a cluster: give --store and --only-nodes, and no --node',
    );
  }
  if (shared === undefined) {
    throw new CommandError(
      '--only-nodes needs nodes: give --node, or --store redis://HOST, which nodes have joined with windjammer node --join',
    );
  }
  const { address, prefix } = shared;
  const open = () =>
    openClusterRedis(
      address,
      'windjammer-cluster',
      'Redis is away; nodes that are known are used on',
      complain,
    );
  return { open, prefix, bundleFolder: choice.bundleDir, ...nodeTrust(choice) };
}

/** @throws CommandError */
function nodeTrust({ clusterKeyFile, nodeTlsCa, nodeTlsCert, nodeTlsKey }: DialChoice): NodeTrust {
  if ((nodeTlsCert === undefined) !== (nodeTlsKey === undefined)) {
    throw new CommandError('--node-tls-cert and --node-tls-key go together');
  }
  return {
    key: clusterKey(clusterKeyFile),
    tls: {
      ...(nodeTlsCa === undefined ? {} : { ca: optionPem('--node-tls-ca', nodeTlsCa) }),
      ...(nodeTlsCert === undefined ? {} : { cert: optionPem('--node-tls-cert', nodeTlsCert) }),
      ...(nodeTlsKey === undefined ? {} : { key: optionPem('--node-tls-key', nodeTlsKey) }),
    },
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
