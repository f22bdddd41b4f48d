/**
 * healthCheck.cjs URL: ends with 0 if it is well, within two seconds. http:// and https:// must answer 200, whoever has signed the
 * certificate: it is this container's own. tcp://HOST:PORT must take a connection.
 */
const { connect } = require('node:net');

const LIMIT_MS = 2000;

function end(problem) {
  if (problem !== undefined) console.error(problem);
  process.exit(problem === undefined ? 0 : 1);
}

const url = new URL(process.argv[2] ?? 'http://127.0.0.1:1337/healthz');
setTimeout(end, LIMIT_MS, `${url.href} does not answer within ${LIMIT_MS} ms`);
const onError = (error) => end(`${url.href}: ${error.message}`);
if (url.protocol === 'tcp:') {
  connect(Number(url.port), url.hostname, () => end()).on('error', onError);
} else {
  const { get } = require(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const onAnswer = ({ statusCode }) =>
    end(statusCode === 200 ? undefined : `${url.href} answers ${statusCode}`);
  get(url, { rejectUnauthorized: false, agent: false }, onAnswer).on('error', onError);
}
