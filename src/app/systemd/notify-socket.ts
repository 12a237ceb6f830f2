/**
 * Sends datagrams to the service manager's socket, which NOTIFY_SOCKET names (sd_notify(3)). Node.js has no such sockets, so
 * koffi calls the functions of the C library. A helper process would not do: by default systemd accepts messages from the
 * service's main process only.
 */

import { oneLine } from '../../text/one-line.ts';

/** Linux's constants; they are the same on all chips that Node.js supports. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;

/** The most bytes of a socket's name without its zero byte (unix(7)): a path ends with it, an abstract name begins with it. */
const MAX_NAME = 107;

export interface NotifySocket {
  /** Sends one datagram without waiting. @returns why it could not be sent; undefined when it was */
  send(assignments: Readonly<Record<string, string | number>>): string | undefined;
  close(): void;
}

/**
 * @param address the value of NOTIFY_SOCKET: an absolute path, or `@` and an abstract name
 * @throws Error that says what is wrong with the address, or which package is missing.
 */
export async function openNotifySocket(address: string): Promise<NotifySocket> {
  const to = socketAddress(address);
  const { default: koffi } = await import('koffi').catch((error: Error) => {
    const [reason] = error.message.split('\n');
    throw new Error(`koffi, the package that sends them, does not load (${reason})`);
  });
  // null stands for the symbols of this process, which include those of its C library, whatever its file is called.
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

/** @returns a sockaddr_un without unused bytes after the name */
function socketAddress(address: string): Buffer {
  if (!/^[/@]./.test(address) || address.includes('\0')) {
    throw new Error(`${JSON.stringify(address)} is neither a path nor @ and a name`);
  }
  const name = Buffer.from(address.startsWith('@') ? `\0${address.slice(1)}` : `${address}\0`);
  if (name.length > MAX_NAME + 1) throw new Error(`${address} is longer than the name of a socket can be`);
  const family = Buffer.alloc(2);
  new Uint16Array(family.buffer, family.byteOffset, 1)[0] = AF_UNIX; // The field is in the byte order of this machine.
  return Buffer.concat([family, name]);
}
