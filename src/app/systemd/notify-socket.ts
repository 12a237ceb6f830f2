/**
 * Tells the service manager how the miner is doing: datagrams to the socket that NOTIFY_SOCKET names (sd_notify(3)). Node has no such
 * sockets, so the C library's functions are called through koffi, in this process: systemd takes a message as the
 * service's own only from its main process, or has to be told to trust others.
 */

import { oneLine } from '../../text/one-line.ts';

/** Linux's numbers, the same on all chips that Node runs on. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** Bytes of a name, unix(7): the path ends in a zero, an abstract name begins with one. */
const MAX_NAME = 107;

export interface NotifySocket {
  /** @returns why it could not be sent; undefined when it was. Never waits. */
  send(assignments: Readonly<Record<string, string | number>>): string | undefined;
  close(): void;
}

/**
 * @param address as NOTIFY_SOCKET has it: an absolute path, or `@` and an abstract name
 * @throws Error that says what is wrong with it, or what is missing.
 */
export async function openNotifySocket(address: string): Promise<NotifySocket> {
  const to = socketAddress(address);
  const { default: koffi } = await import('koffi').catch((error: Error) => {
    const [reason] = error.message.split('\n');
    throw new Error(`koffi, the package that sends them, does not load (${reason})`);
  });
  // The symbols of this process, which has a C library loaded, whatever that is called.
  const libc = koffi.load(null);
  const socket = libc.func('socket', 'int', ['int', 'int', 'int']);
  const sendto = libc.func('sendto', 'intptr_t', ['int', 'uint8_t *', 'size_t', 'int', 'uint8_t *', 'uint32_t']);
  const close = libc.func('close', 'int', ['int']);

  const descriptor: number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw new Error(`the system provides no socket (error ${koffi.errno()})`);
  return {
    send(assignments) {
      const lines = Object.entries(assignments).map(([name, value]) => `${name}=${oneLine(String(value))}`);
      const bytes = Buffer.from(lines.join('\n'));
      const sent = sendto(descriptor, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL, to, to.length);
      return Number(sent) === bytes.length ? undefined : `cannot send to ${address} (error ${koffi.errno()})`;
    },
    close: () => void close(descriptor),
  };
}

/** A sockaddr_un, as long as its name. */
function socketAddress(address: string): Buffer {
  if (!/^[/@]./.test(address) || address.includes('\0')) {
    throw new Error(`${JSON.stringify(address)} is neither a path nor @ and a name`);
  }
  const name = Buffer.from(address.startsWith('@') ? `\0${address.slice(1)}` : `${address}\0`);
  if (name.length > MAX_NAME + 1) throw new Error(`${address} is longer than the name of a socket can be`);
  const family = Buffer.alloc(2);
  new Uint16Array(family.buffer, family.byteOffset, 1)[0] = AF_UNIX; // in the byte order of this machine
  return Buffer.concat([family, name]);
}
