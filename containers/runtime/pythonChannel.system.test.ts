import { channelConformance } from './tests/channelConformance.js';
import { relayProcess } from './tests/relayProcess.js';

/** As the relay of `channels.test.ts`. */
const RELAY = `
import os, socket, threading
line = socket.socket(fileno=3)
side = socket.socket(socket.AF_UNIX)
side.connect(os.environ["WINDJAMMER_RELAY"])

def pump(source, target):
    for piece in iter(lambda: source.recv(1 << 18), b""):
        target.sendall(piece)
    target.shutdown(socket.SHUT_WR)

there = threading.Thread(target=pump, args=(line, side))
there.start()
pump(side, line)
there.join()
`;

channelConformance({
  name: 'to a process of Python',
  open: (identity) => relayProcess(identity, { kind: 'python', file: 'relay.py', text: RELAY }),
});
