/**
 * The yardstick of the WebSocket interface: a bare `ws` server that sends every message back and does nothing else. Run
 * as a process of its own; prints its port. A GET answers its CPU time.
 */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((_request, response) => {
  const usage = process.cpuUsage();
  response.end(JSON.stringify({ cpuSeconds: (usage.user + usage.system) / 1e6 }));
});
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (webSocket) => {
  webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
