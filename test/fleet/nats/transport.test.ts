import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LinkTransport, type TransportOptions } from '#pickaxe/fleet/nats/transport.js';
import { PATIENCE } from '../../patience.ts';
import { info, pretend } from './pretended-server.ts';

interface Given {
  readonly requiresTls: boolean;
  readonly stop?: AbortSignal;
  /** What the server sends first, and what it sends then. */
  readonly first?: string;
  readonly next?: (socket: Socket) => void;
}

/** @returns a transport to a server, the transport's socket, and what the server has received */
async function connecting({ requiresTls, stop = new AbortController().signal, first = info(), next }: Given) {
  const { port, received } = await pretend((socket) => {
    socket.write(first);
    next?.(socket);
  });
  const connect = vi.spyOn(Socket.prototype, 'connect');
  onTestFinished(() => connect.mockRestore());
  const transport = new LinkTransport();
  const options = { pickaxe: { host: '127.0.0.1', port, requiresTls, authorities: undefined, stop } };
  const connected = transport.connect(undefined, options as TransportOptions);
  const socket = connect.mock.contexts.at(-1) as Socket;
  return { transport, connected, socket, received };
}

it('an error that comes after a connection was given up ends nothing', async () => {
  const { transport, connected, socket } = await connecting({ requiresTls: true });
  await expect(connected).rejects.toMatchObject({ message: 'the server offers no TLS', lacksTls: true });
  expect(transport.isClosed).toBe(true);
  expect(socket.destroyed).toBe(true);
  expect(socket.emit('error', new Error('late'))).toBe(true);
});

it('a connection ends once, and keeps its first reason', async () => {
  const { transport, connected, socket } = await connecting({ requiresTls: false });
  await connected;
  expect([transport.isClosed, transport.isEncrypted()]).toEqual([false, false]);
  // Nothing is left of the waiting for the first message.
  expect(socket.listenerCount('error')).toBe(1);
  const first = new Error('first');
  socket.emit('error', first);
  socket.emit('error', new Error('second'));
  await transport.closed();
  await transport.close(new Error('third'));
  expect(transport.closeError).toBe(first);
  const chunks: Uint8Array[] = [];
  for await (const chunk of transport) chunks.push(chunk);
  expect(new TextDecoder().decode(chunks[0])).toMatch(/^INFO /);
});

it('a connection that is stopped before or while it is made is no connection', async () => {
  const stop = new AbortController();
  const during = await connecting({ requiresTls: false, stop: stop.signal });
  stop.abort();
  await expect(during.connected).rejects.toThrow();
  expect([during.transport.isClosed, during.socket.destroyed]).toEqual([true, true]);
  const before = new LinkTransport();
  const pickaxe = { host: '127.0.0.1', port: 9, requiresTls: false, authorities: undefined, stop: stop.signal };
  await expect(before.connect(undefined, { pickaxe } as TransportOptions)).rejects.toThrow(
    'the connection was stopped',
  );
});

it.each([
  ['the server offers it', info({ tls_available: true }), true],
  ['the server requires it', info({ tls_required: true }), true],
  ['the server offers none', info(), false],
  ['the server sends one byte more before it', `${info({ tls_required: true })}P`, false],
])('TLS that the settings require begins if it can: %s', async (_, first, begins) => {
  const next = (socket: Socket) => void socket.once('data', () => socket.destroy());
  const { connected, received } = await connecting({ requiresTls: true, first, next });
  await expect(connected).rejects.toThrow();
  // A handshake begins with the byte 22. Nothing may be sent in clear.
  if (begins) expect(received()[0]).toBe(22);
  else expect(received()).toHaveLength(0);
});

it('a long message is taken in pieces, and a long line is not', async () => {
  const payload = 'x'.repeat(500_000);
  const { transport, connected } = await connecting({
    requiresTls: false,
    next: (socket) => void socket.write(`MSG a 1 ${payload.length}\r\n${payload}\r\n-ERR ${'x'.repeat(500_000)}`),
  });
  await connected;
  let text = '';
  for await (const chunk of transport) text += new TextDecoder().decode(chunk);
  expect(text).toContain(`${payload}\r\n`);
  expect(transport.closeError?.message).toBe('the server’s message is too long');
});

describe('the limit of', () => {
  const MIB = 2 ** 20;

  /** @returns a connection, and a function that sends it bytes and waits until the transport has got them */
  async function connectedTo() {
    let server: Socket | undefined;
    const { transport, connected, socket } = await connecting({
      requiresTls: false,
      next: (each) => {
        server = each;
      },
    });
    await connected;
    const chunks = transport[Symbol.asyncIterator]();
    await chunks.next();
    const push = async (text: string) => {
      server!.write(text);
      for (let rest = text.length; rest > 0 && !transport.isClosed; ) {
        const { value } = await chunks.next();
        rest -= value?.length ?? rest;
      }
    };
    return { transport, socket, push };
  }

  it.each([
    ['a line', '-ERR ', 65_536],
    ['a message with its payload', 'MSG a 1 9999999\r\n', 2 * MIB],
  ])('%s is counted in bytes', async (_, begin, most) => {
    const { transport, push } = await connectedTo();
    await push(begin.padEnd(most, 'x'));
    expect(transport.isClosed).toBe(false);
    await push('x');
    await transport.closed();
    expect(transport.closeError?.message).toBe('the server’s message is too long');
  });

  it('a line begins anew after each message', async () => {
    const { transport, push } = await connectedTo();
    for (let i = 0; i < 3; i++) await push(`MSG a 1 40000\r\n${'x'.repeat(40_000)}\r\n`);
    expect(transport.isClosed).toBe(false);
  });

  it('what waits to be sent is 1 MiB', async () => {
    const { transport, socket } = await connectedTo();
    let waiting = MIB;
    Object.defineProperty(socket, 'writableLength', { get: () => waiting });
    transport.send(new TextEncoder().encode('PING\r\n'));
    expect(transport.isClosed).toBe(false);
    waiting++;
    transport.send(new TextEncoder().encode('PING\r\n'));
    expect([transport.isClosed, transport.closeError?.message]).toEqual([true, 'the server takes no more messages']);
  });

  it.each([
    ['65,536 bytes', 65_536, true],
    ['a byte more', 65_537, false],
  ])('the first line is 64 KiB: %s', async (_, bytes, fits) => {
    const whole = info({ pad: '' });
    const first = info({ pad: 'x'.repeat(bytes - whole.length) });
    expect(first).toHaveLength(bytes);
    const { connected } = await connecting({ requiresTls: false, first });
    if (fits) await connected;
    else await expect(connected).rejects.toThrow('what listens there is no NATS server');
  });

  it('the first line counts before it ends, which it may do in another piece', async () => {
    const pieces = async (...texts: string[]) => {
      let server: Socket | undefined;
      const { connected, socket } = await connecting({
        requiresTls: false,
        first: texts[0],
        next: (each) => {
          server = each;
        },
      });
      connected.catch(() => {});
      let received = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
      for (const text of texts.slice(1)) {
        const before = texts.slice(0, texts.indexOf(text)).join('').length;
        await vi.waitFor(() => expect(received).toBe(before), PATIENCE);
        server!.write(text);
      }
      return connected;
    };
    const line = info();
    await pieces(line.slice(0, 20), line.slice(20, -1), line.slice(-1));
    await expect(pieces('x'.repeat(65_536), 'y')).rejects.toThrow('what listens there is no NATS server');
  });
});
