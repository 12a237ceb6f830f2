/** A Unix socket that parents connect to. Only its owner may. */

import { chmodSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, resolve } from 'node:path';

/** The owner may read and write (POSIX.1-2017, `connect` needs write permission); nobody else may do anything. */
const MODE = 0o600;
/** The longest path of a socket that every system accepts (macOS' sun_path has 104 bytes with its end, Linux' 108). */
const MOST_PATH_BYTES = 103;
const PREFIX = 'unix:';
/** Within so long a parent that still reads has read the rest, which a system's buffer holds. */
const FLUSH_MS = 2_000;

/**
 * @param address `unix:PATH`
 * @returns the absolute path
 * @throws Error that says what is wrong with the address
 */
export function socketPath(address: string): string {
  if (process.platform === 'win32')
    throw new Error('Node.js has no Unix sockets on Windows: use stdin and stdout instead');
  if (!address.startsWith(PREFIX) || address.length === PREFIX.length) {
    throw new Error(`“${address}” is not the address of a Unix socket: write it like unix:/run/user/1000/pickaxe.sock`);
  }
  const path = resolve(address.slice(PREFIX.length));
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) {
    throw new Error(
      `the path of a socket has at most ${MOST_PATH_BYTES} bytes: ${path} has ${Buffer.byteLength(path)}`,
    );
  }
  return path;
}

/**
 * Listens at a path. A socket that a killed process has left there is replaced.
 * @param path absolute
 * @param connected called for each connection
 * @returns a function that ends listening and all connections, and removes the socket
 * @throws Error that says what is wrong, when that is not possible
 */
export async function listenAt(path: string, connected: (socket: Socket) => void): Promise<() => Promise<void>> {
  const folder = dirname(path);
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist: make it, or give another path`);
  await removeStale(path);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    connected(socket);
  });
  await new Promise<void>((resolve, reject) => {
    // The listener stays: an `error` event that nobody hears, such as of a connection that fails, would end the process.
    server.on('error', ({ code, message }: NodeJS.ErrnoException) => reject(new Error(whyNot(path, code, message))));
    // The socket is made while `listen` is called, so at no moment may others connect.
    const before = process.umask(0o777 & ~MODE);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
  chmodSync(path, MODE);
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Whoever has not read by now does not read.
    for (const socket of sockets) socket.destroy();
    await closed;
  };
}

/**
 * Ends a connection once everything has been written. A parent that does not read has no other end than this one's time limit,
 * and would keep its place for ever.
 */
export function endSoon(socket: Socket, withinMs = FLUSH_MS): void {
  const timer = setTimeout(() => socket.destroy(), withinMs);
  socket.once('close', () => clearTimeout(timer));
  socket.end(() => socket.destroy());
}

/** @throws Error when something else is there */
async function removeStale(path: string): Promise<void> {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts) return;
  if (!facts.isSocket()) throw new Error(`${path} exists and is no socket: remove it, or give another path`);
  const socket = connect(path);
  const fault = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
  });
  socket.destroy();
  if (fault === undefined) throw new Error(`another worker listens at ${path}: stop it, or give another path`);
  if (fault === 'ECONNREFUSED') rmSync(path, { force: true });
  else throw new Error(`the socket ${path} cannot be replaced (${fault}): remove it, or give another path`);
}

function whyNot(path: string, code: string | undefined, message: string): string {
  if (code === 'EACCES') return `this user may not make a socket at ${path}: give another path`;
  return `no socket can be made at ${path}: ${message}`;
}
