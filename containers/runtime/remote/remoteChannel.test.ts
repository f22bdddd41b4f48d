import type { FrontendFrame } from '../../protocol/index.js';
import { channelConformance, type ChannelEnds } from '../tests/channelConformance.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { NodeServer } from './nodeServer.js';
import { RemoteNode } from './remoteNode.js';
import { PuppetRuntime } from './tests/puppetRuntime.js';

async function overTcp(identity: ReplicaIdentity): Promise<ChannelEnds> {
  const runtime = new PuppetRuntime();
  const server = new NodeServer({ name: 'n1', gpus: [], runtime, complain: () => undefined });
  const { port } = await server.listen('127.0.0.1', 0);
  const node = new RemoteNode({ address: { host: '127.0.0.1', port, isSecure: false } });
  await new Promise<void>((resolve) => node.settled(resolve));
  const channel = node.startContainer({
    ...identity,
    inputType: 'bytes',
    container: { kind: 'constant', output: '' },
  });
  while (runtime.puppets.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const [puppet] = runtime.puppets;
  const ends: ChannelEnds = {
    channel,
    heard: puppet.heard,
    onHeard: (_frame: FrontendFrame) => undefined,
    get isClosed() {
      return puppet.closedFor !== undefined;
    },
    say: (frame) => puppet.say(frame),
    vanish: () => server.close(() => undefined),
    pump: () => undefined,
    end: async () => {
      await new Promise<void>((resolve) => node.close(resolve));
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
  puppet.onHeard = (frame) => ends.onHeard(frame);
  return ends;
}

channelConformance({ name: 'to a node over TCP', open: overTcp });
