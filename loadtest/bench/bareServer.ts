/**
 * The yardstick of serving overhead: a bare node:http server that parses the same request and answers the same
 * JSON as a noop prediction, and does nothing else. Run as a process of its own; prints its port.
 */
import { createServer, type ServerResponse } from 'node:http';

let served = 0;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const usage = process.cpuUsage();
    respond(response, JSON.stringify({ cpuSeconds: (usage.user + usage.system) / 1e6 }));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { input: number[] };
    if (!Array.isArray(body.input)) {
      response.writeHead(400).end();
      return;
    }
    respond(
      response,
      JSON.stringify({
        query_id: `bare-${served++}`,
        output: 0,
        default: false,
        confidence: 1,
        cached: false,
        models: [{ name: 'noop', version: '1', cached: false }],
      }),
    );
  });
});

function respond(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
