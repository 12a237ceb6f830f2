// A cluster of nats-servers on loopback, whose members can be killed and started again on the same ports.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer, startServer } from '#pickaxe/fleet/nats/server-program.js';
import { until } from '../lib/until.mjs';

/** @param count number of servers @throws Error if the program is not installed */
export async function startCluster(count) {
  const program = await findServer();
  if (!program) throw new Error('the program nats-server is not installed (Debian: apt-get install nats-server)');
  const parent = mkdtempSync(join(tmpdir(), 'pickaxe-nats-'));
  process.setMaxListeners(0); // Each process of a fleet adds one.
  process.on('exit', () => rmSync(parent, { recursive: true, force: true }));
  const ports = await freePorts(3 * count);
  const members = Array.from({ length: count }, (_, i) => {
    const [port, route, monitor] = ports.slice(3 * i);
    return {
      url: `nats://127.0.0.1:${port}`,
      port,
      route,
      monitor,
      folder: join(parent, String(i)),
      server: undefined,
    };
  });
  const routes = members.map(({ route }) => `"nats://127.0.0.1:${route}"`).join(', ');
  async function start({ port, route, monitor, folder }) {
    mkdirSync(folder, { recursive: true });
    // Clients get all URLs, unless that is forbidden: a rig behind a proxy must not learn a way around the proxy.
    const cluster = `cluster { name: fleet, listen: "127.0.0.1:${route}", routes: [${routes}], no_advertise: true }`;
    const config = [`listen: "127.0.0.1:${port}"`, `http: "127.0.0.1:${monitor}"`, ...(count > 1 ? [cluster] : [])];
    const listens = count > 1 ? ['client', 'route'] : ['client'];
    return await startServer({ program, config: config.join('\n'), folder, listens });
  }
  for (const member of members) member.server = await start(member);
  const asked = async ({ monitor }, what) => await (await fetch(`http://127.0.0.1:${monitor}/${what}`)).json();
  for (const member of members) await until(async () => (await asked(member, 'routez')).num_routes >= count - 1);
  return {
    urls: members.map(({ url }) => url),
    pids: () => members.flatMap(({ server }) => (server ? [server.process.pid] : [])),
    async kill(i) {
      const { server } = members[i];
      members[i].server = undefined;
      server.process.kill('SIGKILL');
      await server.ended;
    },
    async restart(i) {
      members[i].server = await start(members[i]);
    },
    /** @returns messages and bytes from and to clients and other servers so far, the sums of all servers */
    async counts() {
      const total = { inMessages: 0, outMessages: 0, inBytes: 0, outBytes: 0, slowConsumers: 0, connections: 0 };
      for (const member of members) {
        if (!member.server) continue;
        const { in_msgs, out_msgs, in_bytes, out_bytes, slow_consumers, connections } = await asked(member, 'varz');
        total.inMessages += in_msgs;
        total.outMessages += out_msgs;
        total.inBytes += in_bytes;
        total.outBytes += out_bytes;
        total.slowConsumers += slow_consumers;
        total.connections += connections;
      }
      return total;
    },
    async close() {
      for (const member of members) member.server?.process.kill('SIGKILL');
      await Promise.all(members.map(({ server }) => server?.ended));
    },
  };
}

/** @returns ports that nobody listened on a moment ago */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((server) => new Promise((done) => server.listen(0, '127.0.0.1', done))));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
