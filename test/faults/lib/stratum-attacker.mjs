// Attacks a stratum server from another process, which gets the attack's name, the port and its niceness as its
// arguments.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const PING = '{"id":1,"method":"mining.ping","params":[]}\n';
const LOGIN =
  '{"id":1,"method":"mining.subscribe","params":[]}\n{"id":2,"method":"mining.authorize","params":["evil","x"]}\n';

/** What an attacker does with a connection, again and again. */
export const ATTACKS = {
  junk: {
    what: 'lines without sense',
    connections: 20,
    act: (socket) => socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(50)),
  },
  flood: {
    what: 'requests as fast as they are taken',
    connections: 20,
    act: (socket) => socket.write(PING.repeat(500)),
  },
  shares: {
    what: 'wrong shares as fast as they are taken',
    connections: 20,
    first: LOGIN,
    act: (socket) => socket.write('{"id":3,"method":"mining.submit","params":["evil","1","0"]}\n'.repeat(200)),
  },
  halves: { what: 'lines that do not end, a byte at a time', connections: 500, act: (socket) => socket.write('x') },
  huge: { what: 'lines of a megabyte', connections: 20, act: (socket) => socket.write('x'.repeat(2 ** 20)) },
  slow: {
    what: 'clients that ask and do not read',
    connections: 50,
    first: LOGIN,
    begin: (socket) => socket.pause(),
    act: (socket) => socket.write(`{"id":"${'x'.repeat(3_000)}","method":"mining.ping"}\n`.repeat(5)),
  },
  within: {
    what: 'shares that must be verified, of 300 connections from one address, each within its own limit',
    connections: 300,
    address: '198.18.255.1',
    first: LOGIN,
    begin: (socket) => {
      socket.on('data', (bytes) => {
        socket.job = /"mining\.notify","params":\["(\w+)"/.exec(bytes.toString('latin1'))?.[1] ?? socket.job;
      });
    },
    act: (socket) => {
      if (!socket.job || Math.random() > 0.9) return;
      const nonce2 = Math.floor(Math.random() * 2 ** 48).toString(16);
      socket.write(`{"id":3,"method":"mining.submit","params":["evil","${socket.job}","${nonce2}"]}\n`);
    },
  },
  connects: { what: 'connections that close at once', connections: 50, act: (socket) => socket.destroy() },
};

/** How often each connection acts. */
const ACT_MS = 20;
/** An attacker writes no more than the system accepts. */
const MOST_WAITING_BYTES = 2 ** 20;

/** @returns the line with which a proxy announces a client */
export function proxied(address) {
  return `PROXY TCP4 ${address} 127.0.0.1 1 2\r\n`;
}

/**
 * Starts an attack and waits until it opens its first connections.
 * @param niceness of its process: 19 is the lowest priority
 * @returns a function that ends the attack and returns how many connections were opened, and closed by the server or
 *   itself
 */
export async function startAttack(name, port, niceness) {
  const child = fork(fileURLToPath(import.meta.url), [name, port, niceness]);
  await once(child, 'message');
  return async () => {
    child.send('end');
    const [count] = await once(child, 'message');
    child.disconnect();
    await once(child, 'exit');
    return count;
  };
}

/** Keeps connections open, each from its own address unless one is given, and acts on them again and again. */
function attack({ connections, address: only, first = '', begin = () => {}, act }, port) {
  const count = { opened: 0, closed: 0 };
  const sockets = new Set();
  const open = () => {
    const address = only ?? `198.18.${Math.floor(count.opened / 250) % 250}.${count.opened % 250}`;
    count.opened++;
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      count.closed++;
      sockets.delete(socket);
      setTimeout(open, ACT_MS);
    });
    socket.resume();
    socket.write(proxied(address) + first);
    begin(socket);
  };
  for (let i = 0; i < connections; i++) open();
  setInterval(() => {
    for (const socket of sockets) if (socket.writableLength < MOST_WAITING_BYTES) act(socket);
  }, ACT_MS);
  return count;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, port, niceness] = process.argv.slice(2);
  setPriority(Number(niceness));
  const count = attack(ATTACKS[name], Number(port));
  process.send('begun');
  process.on('message', () => process.send(count));
  process.on('disconnect', () => process.exit(0));
}
