// A hostile client of the miner's HTTP server, in another process. It attacks only a port of this machine, with a
// bounded number of connections and bytes.
//
// The child gets { attack, port } as its first argument, and goes on until it is disconnected.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

/** How many connections an attack opens at most, including those that it opens again. */
const MOST_OPENED = 200_000;
const TRICKLE_MS = 500;

const get = (path) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;

/**
 * The attacks by name: how many `sockets`, what each sends at once (`first`), whether it reads what comes, what it
 * sends when something has come (`next`), whether bytes `trickle`, and whether a connection that was closed is
 * `reopened` at once.
 */
export const ATTACKS = {
  unread: {
    sockets: 64,
    first: () => get('/rig/page/uplot.js').repeat(200),
    what: '64 × 200 GET /rig/page/uplot.js, never read',
  },
  pipelined: { sockets: 62, first: () => get('/healthz').repeat(20_000), what: '62 × 20,000 GET /healthz, never read' },
  reopened: {
    sockets: 62,
    first: () => get('/healthz').repeat(1_000),
    reads: true,
    reopened: true,
    what: '62 × 1,000 GET /healthz, read, opened again at once when closed',
  },
  trickled: {
    sockets: 64,
    first: () => 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ',
    trickles: true,
    reads: true,
    reopened: true,
    what: '64 × headers a byte at a time, opened again when closed',
  },
  asking: {
    sockets: 62,
    first: () => get('/healthz'),
    next: () => get('/healthz'),
    reopened: true,
    what: '62 × GET /healthz, the next as soon as one is answered: nothing forbidden, only much',
  },
  silent: {
    sockets: 64,
    first: () => '',
    reads: true,
    reopened: true,
    what: '64 × nothing sent, opened again when closed',
  },
  streams: { sockets: 16, first: () => get('/api/v1/events'), what: '16 event streams, never read' },
};

/** @returns a function that ends the attack and returns the number of connections that it opened */
export async function startAttack(attack, port) {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ attack, port })]);
  await once(child, 'message');
  return async () => {
    child.send('end');
    const [{ opened }] = await once(child, 'message');
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
    return opened;
  };
}

function start({ sockets, first, next, reads, trickles, reopened }, port) {
  let opened = 0;
  const open = () => {
    if (++opened > MOST_OPENED) return;
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    // The socket is paused before it is connected, so that it reads nothing.
    if (next) socket.on('data', () => socket.write(next()));
    else if (reads) socket.resume();
    else socket.pause();
    socket.write(first());
    const timer = trickles ? setInterval(() => socket.writable && socket.write('x'), TRICKLE_MS) : undefined;
    socket.once('close', () => {
      clearInterval(timer);
      if (reopened) open();
    });
  };
  for (let i = 0; i < sockets; i++) open();
  return () => Math.min(opened, MOST_OPENED);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { attack, port } = JSON.parse(process.argv[2]);
  setPriority(constants.priority.PRIORITY_LOW);
  const openedSoFar = start(ATTACKS[attack], port);
  process.on('message', () => process.send({ opened: openedSoFar() }));
  process.on('disconnect', () => process.exit(0));
  process.send('started');
}
