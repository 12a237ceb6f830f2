// A TCP proxy on loopback that can stop forwarding while all connections stay open, as a broken link does.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** @param port of this machine, to which connections are forwarded */
export async function startHoldingProxy(port) {
  const sockets = new Set();
  let isHeld = false;
  const hold = (socket) => isHeld && socket.pause();
  const server = createServer((client) => {
    const onward = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ]) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => to.write(data));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      hold(from);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `nats://127.0.0.1:${server.address().port}`,
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
