// A gateway of http-proxy-3 in front of replicas that stream.
//   npm install --prefix gateway http-proxy-3@2.0.1
//   GATEWAY_MODULES=$PWD/gateway understudy chaos --command 'node {config}' --config conf/chaos/node.mjs
// With --tls the command is 'NODE_EXTRA_CA_CERTS={ca} node {config}'.
// It takes the replicas in turn, out of those that its probes found well. What fails before an answer goes to the next one.
import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';

const { createProxyServer } = createRequire(`${process.env.GATEWAY_MODULES ?? process.cwd()}/`)('http-proxy-3');
const replicas = '{backends}'.split(',').map((address) => ({ target: `{scheme}://${address}`, well: true }));
const agent = new ('{scheme}' === 'https' ? https : http).Agent({ keepAlive: true, maxSockets: 256 });
const proxy = createProxyServer({ agent, proxyTimeout: 1500 });
let turn = 0;

const next = (tried) => {
  for (let i = 0; i < replicas.length; i += 1) {
    const replica = replicas[(turn + i) % replicas.length];
    if (replica.well && !tried.has(replica)) {
      turn = (turn + i + 1) % replicas.length;
      return replica;
    }
  }
  return undefined;
};

const probe = async (replica) => {
  try {
    const answer = await fetch(`${replica.target}/health`, { signal: AbortSignal.timeout(1000) });
    replica.well = answer.ok;
    await answer.arrayBuffer();
  } catch {
    replica.well = false;
  }
  setTimeout(() => probe(replica), 200);
};
replicas.forEach(probe);

const refuse = (response, status, message) => {
  if (response.headersSent) {
    response.destroy();
  } else {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
  }
};

http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    const tried = new Set();
    const send = () => {
      const replica = next(tried);
      if (replica === undefined) {
        refuse(response, 503, 'no replica answers');
        return;
      }
      tried.add(replica);
      // The body has been read, so that it can be sent again.
      proxy.web(request, response, { target: replica.target, buffer: Readable.from([body]) }, () => {
        if (response.headersSent || response.destroyed) {
          response.destroy();
        } else {
          send();
        }
      });
    };
    send();
  });
}).listen(Number('{port}'), '127.0.0.1');
