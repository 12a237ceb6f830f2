// What strangers can cause at a stratum server, and how honest miners fare after that. Each scenario has a server of
// its own.
//
// Run alone, `node test/faults/lib/stratum-scenarios.mjs NAME [--short]` prints the figures of one scenario as JSON.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { StratumClient } from '../../../bench/stratum/stratum-client.mjs';
import { startStratumServer } from '../../../bench/stratum/stratum-server.mjs';
import { proxied } from './stratum-attacker.mjs';

const HOST = '127.0.0.1';
const LOGIN =
  '{"id":1,"method":"mining.subscribe","params":[]}\n{"id":2,"method":"mining.authorize","params":["late","x"]}\n';
/** Every hash is a share. */
const EASIEST = 'd=0.0000000001';
const FARM = '10.1.1.1';
const MINERS = 12;
/** Time for which a client waits for an answer that, if it comes, comes at once. */
const PATIENCE_MS = 10_000;

export const SCENARIOS = {
  'poisoned-here': {
    what: 'a stranger at the farm’s address says that its workers are slow; then the farm connects',
    run: (isShort) => poison(FARM, isShort),
  },
  'poisoned-elsewhere': { what: 'the same from another address', run: (isShort) => poison('10.2.2.2', isShort) },
  'tls-checks': {
    what: 'health checks that connect to a server with TLS and close; then a miner connects',
    run: (isShort) => withTls(isShort ? 60 : 150, check),
  },
  'tls-hang-ups': {
    what: 'clients that hang up right after the handshake of TLS; then a miner connects',
    run: (isShort) => withTls(isShort ? 60 : 300, hangUp),
  },
  files: {
    what: 'more clients than the process may have open files; then a page, and a block of the node',
    run: (isShort) => fillFiles(isShort ? { files: 700, clients: 800 } : { files: 2_000, clients: 2_400 }),
  },
};

/** @param address where the poisoner is */
async function poison(address, isShort) {
  const server = await startStratumServer(['--stratum-proxy-protocol', HOST]);
  const names = Array.from({ length: MINERS }, (_, i) => `farm.${i}`);
  const poisoners = names.map((name) => {
    const client = new StratumClient(server.port, { first: proxied(address) });
    client.login(name, { password: EASIEST });
    return client;
  });
  for (let share = 0; share < 40; share++) {
    for (const client of poisoners) client.mine(1);
    await sleep(isShort ? 100 : 250);
  }
  for (const { socket } of poisoners) socket.destroy();
  await Promise.all(poisoners.map(({ socket }) => socket.closed || once(socket, 'close')));
  let drops = 0;
  let againMs = 0;
  const arrive = (name) => {
    const client = new StratumClient(server.port, { first: proxied(FARM) });
    client.login(name);
    return { name, client };
  };
  let farm = names.map(arrive);
  for (const endMs = performance.now() + (isShort ? 5_000 : 30_000); performance.now() < endMs; ) {
    for (const { client } of farm) client.mine(200);
    await sleep(1);
    if (performance.now() < againMs) continue;
    // Real miners come again. One that did not get as far as its nonce1 was not let in.
    againMs = performance.now() + 1_000;
    drops += farm.filter(({ client }) => !client.isOpen && client.nonce1 !== undefined).length;
    farm = farm.map(({ name, client }) => (client.isOpen ? { name, client } : arrive(name)));
  }
  await sleep(500);
  const connected = farm.filter(({ client }) => client.isOpen && client.nonce1 !== undefined).length;
  for (const { client } of farm) client.socket.destroy();
  const bans = bansIn(server.log);
  await server.close();
  return { miners: MINERS, drops, bans, connected };
}

/** @param count how many clients come before the miner @param visit what one of them does; returns whether it could */
async function withTls(count, visit) {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -keyout';
  spawnSync('openssl', [...request.split(' '), key, '-out', cert]);
  const server = await startStratumServer(['--stratum-tls-cert', cert, '--stratum-tls-key', key]);
  let served = 0;
  for (let i = 0; i < count; i++) {
    if (await visit(server.port)) served++;
    await sleep(10);
  }
  const miner = tlsConnect({ port: server.port, host: HOST, rejectUnauthorized: false });
  miner.on('error', () => {});
  miner.write(LOGIN);
  const isMinerServed = await new Promise((settle) => {
    miner.once('data', () => settle(true));
    miner.once('close', () => settle(false));
    late().then(() => settle(false));
  });
  miner.destroy();
  const bans = bansIn(server.log);
  await server.close();
  rmSync(folder, { recursive: true });
  return { clients: count, served, bans, isMinerServed };
}

async function check(port) {
  const socket = connect(port, HOST);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.end();
  await Promise.race([once(socket.resume(), 'close'), late()]);
  return true;
}

async function hangUp(port) {
  const socket = tlsConnect({ port, host: HOST, rejectUnauthorized: false });
  const isServed = await new Promise((settle) => {
    socket.once('secureConnect', () => settle(true));
    socket.on('error', () => {});
    socket.once('close', () => settle(false));
  });
  socket.destroy();
  return isServed;
}

async function fillFiles({ files, clients: count }) {
  const server = await startStratumServer(['--stratum-proxy-protocol', HOST, '--http', '0'], { files });
  const url = await server.httpUrl();
  const clients = [];
  while (clients.length < count) {
    const client = new StratumClient(server.port, { first: proxied(`10.3.3.${clients.length % 2}`) });
    client.login('late');
    clients.push(client);
    // The system drops connections beyond those that it lets wait.
    if (clients.length % 100 === 0) await Promise.race([settled(clients), sleep(2_000)]);
  }
  // In this time the nodes are compared for the first time.
  await sleep(12_000);
  const connected = clients.filter(({ isOpen, cleanJobs }) => isOpen && cleanJobs > 0).length;
  const page = await fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(PATIENCE_MS) })
    .then(({ status }) => status)
    .catch(() => 0);
  const metrics = page === 200 ? await (await fetch(new URL('/metrics', url))).text() : '';
  const refused = Number(/pickaxe_relay_refused_total\{.*reason="full"\} (\d+)/.exec(metrics)?.[1] ?? 0);
  for (const { socket } of clients) socket.destroy();
  const noFiles = server.log.filter((line) => line.includes('EMFILE')).length;
  const isWatched = !server.log.some((line) => line.includes('nodes are not watched'));
  await server.close();
  return { files, clients: count, connected, refused, page, linesAboutFiles: noFiles, isWatched };
}

async function settled(clients) {
  while (clients.some(({ isOpen, cleanJobs }) => isOpen && cleanJobs === 0)) await sleep(10);
}

const bansIn = (log) => log.filter((line) => line.includes(' is banned for ')).length;

const late = () => sleep(PATIENCE_MS, undefined, { ref: false });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, short] = process.argv.slice(2);
  console.log(JSON.stringify(await SCENARIOS[name].run(short === '--short')));
  process.exit();
}
