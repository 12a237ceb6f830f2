// Many rigs of a fleet in one process that only read: each has a connection of its own to a NATS server, asks for the
// work, subscribes and reports as `pickaxe mine --nats` does, and notes when a message with a new work has come. A
// thousand whole rigs would wait for each other on one machine, which those of a farm do not.
//
// The child gets { servers, coordinators, count } as its first argument and sends { ready } once every rig has work. It
// sends { height, firstCameMs, lastCameMs } when all its rigs have the work of a height.

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { CoordinatorState, readMessage, workOfGiven } from '#pickaxe/fleet/messages.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { forkRigs } from './forked-rigs.mjs';
import { reportOf } from './rig-report.mjs';

const REPORT_MS = 10_000;
const PING_MS = 3_000;
/** Number of connections opened at once: a server's queue of waiting connections is finite. */
const AT_ONCE = 50;
const RATE = 25e9;

/** All connections are read into the same memory, one after the other. */
const BUFFER = Buffer.alloc(65_536);

/** Reads what a NATS server sends. */
class ServerReader {
  #onMessage;
  #onPing;
  /** The beginning of a message that has not wholly come. */
  #rest = Buffer.alloc(0);

  /** @param listeners `onMessage(subject, payload)` and `onPing()` */
  constructor({ onMessage, onPing }) {
    this.#onMessage = onMessage;
    this.#onPing = onPing;
  }

  read(chunk) {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (;;) {
      const lineEnd = bytes.indexOf('\r\n', at);
      if (lineEnd < 0) break;
      const [verb, subject, ...others] = bytes.latin1Slice(at, lineEnd).split(' ');
      let next = lineEnd + 2;
      if (verb === 'MSG') {
        const end = next + Number(others.at(-1));
        if (end + 2 > bytes.length) break;
        this.#onMessage(subject, bytes.subarray(next, end));
        next = end + 2;
      } else if (verb === 'PING') this.#onPing();
      else if (verb !== 'INFO' && verb !== 'PONG')
        throw new Error(`the server has said ${verb} ${subject} ${others.join(' ')}`);
      at = next;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}

/** @param options of the child @param onHeight called with each height whose work all its rigs have */
export async function startSimulatedRigs(options, onHeight) {
  const { child, pid, stop } = forkRigs(import.meta.url, options);
  await new Promise((resolve) => {
    child.on('message', (message) => (message.ready ? resolve() : onHeight(message)));
  });
  return { pid, stop };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { servers, coordinators, count } = JSON.parse(process.argv[2]);
  const subjects = new FleetSubjects('pickaxe');
  /** By the name of a work: its height. One rig reads the work for all. */
  const heightOf = new Map();
  /** By height: the rigs that have its work, and when the first and the last one had the message. */
  const heights = new Map();
  const hasWork = new Set();

  function received(rig, payload) {
    const cameMs = systemClock.monotonicMs();
    const name = /"work":"([^"]+)"/.exec(payload.toString('latin1', 0, 200))?.[1];
    if (name === undefined) return;
    if (!heightOf.has(name)) {
      const given = readMessage(CoordinatorState, payload)?.given;
      if (!given) return;
      heightOf.set(name, Number(workOfGiven(given).height));
    }
    const height = heightOf.get(name);
    hasWork.add(rig);
    const known = heights.get(height) ?? { rigs: new Set(), firstCameMs: cameMs };
    heights.set(height, known);
    if (known.rigs.has(rig)) return;
    known.rigs.add(rig);
    if (known.rigs.size === count) process.send({ height, firstCameMs: known.firstCameMs, lastCameMs: cameMs });
  }

  async function startRig(number) {
    const name = `simulated-${number}`;
    const coordinator = coordinators[number % coordinators.length];
    const { hostname, port } = new URL(servers[number % servers.length]);
    const answers = `${subjects.inbox(name)}.simulated`;
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: { buffer: BUFFER, callback: (bytes) => reader.read(BUFFER.subarray(0, bytes)) ?? true },
    });
    const works = [subjects.work(coordinator), `${answers}.work`];
    const reader = new ServerReader({
      onMessage: (subject, payload) => works.includes(subject) && received(number, payload),
      onPing: () => socket.write('PONG\r\n'),
    });
    socket.on('error', (fault) => {
      throw fault;
    });
    const subscribed = [works[0], subjects.allBeats, subjects.controlsTo(name), `${answers}.*`];
    socket.write(`CONNECT {"verbose":false,"name":"${name}"}\r\n`);
    for (const [i, subject] of subscribed.entries()) socket.write(`SUB ${subject} ${i + 1}\r\n`);
    const ask = () => socket.write(`PUB ${subjects.hello(coordinator, name)} ${works[1]} 2\r\n{}\r\n`);
    while (!hasWork.has(number)) {
      ask();
      await sleep(20);
    }
    setInterval(() => socket.write('PING\r\n'), PING_MS);
    const report = reportOf(coordinator, RATE);
    const head = Buffer.from(`PUB ${subjects.report(name)} ${report.length}\r\n`);
    const message = Buffer.concat([head, report, Buffer.from('\r\n')]);
    const sendReport = () => socket.write(message);
    setTimeout(() => {
      sendReport();
      setInterval(sendReport, REPORT_MS);
    }, Math.random() * REPORT_MS);
  }

  for (let i = 0; i < count; i += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, j) => startRig(i + j)));
  }
  process.on('disconnect', () => process.exit(0));
  process.send({ ready: true });
}
