/** `pickaxe worker`: takes jobs from a parent process and answers with shares. Each line is a JSON object. */

import type { Socket } from 'node:net';
import type { Command } from 'commander';
import { z } from 'zod';
import { chooseEngines } from '../../app/composition/choose-engines.ts';
import { prepare } from '../../app/composition/rig.ts';
import { runMiner, type Sidecar } from '../../app/composition/run-miner.ts';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, orUsageError, UsageError } from '../../app/process/exit.ts';
import { systemClock } from '../../base/system/clock.ts';
import { version } from '../../base/system/version.ts';
import type { DeviceKind } from '../../miner/engine/device.ts';
import type { Engine } from '../../miner/engine/engine.ts';
import { type Controls, Events, type MinerEvent } from '../../miner/events/events.ts';
import { endSoon, listenAt, socketPath } from '../../miner/source/parent/connection.ts';
import type { ParentSession, RigView } from '../../miner/source/parent/parent-session.ts';
import { ParentSource } from '../../miner/source/parent/parent-source.ts';
import {
  Answer,
  type AnswerOf,
  answerLine,
  type ByeReason,
  CAPABILITIES,
  LIMITS,
  PROTOCOL_VERSION,
  Request,
} from '../../protocol/wire/worker.ts';
import { Tally } from '../../rig/status/tally.ts';
import type { Io, Line } from '../io.ts';
import { MINING, settingsOf, withSettings } from '../usage/options.ts';

/**
 * The settings of a worker. Of the table `run`, a worker has only `status`, because its parent decides when the worker
 * ends. A worker has no setting of the table `stratum`, because it serves only its parent.
 */
const SETTINGS = [...MINING.filter((table) => table !== 'run' && table !== 'stratum'), 'run.status'];

export function declare(command: Command, { io, action }: Line): void {
  const load = () => settingsOf(command, 'rig');
  withSettings(command, ...SETTINGS)
    .option('--listen <address>', 'take jobs from a socket instead of stdin, like unix:/run/user/1000/pickaxe.sock')
    .option('--schema', 'print the JSON Schema of both directions, and exit', false)
    .addHelpText('after', EXAMPLES)
    .action(
      action(async ({ schema, ...options }) => (schema ? printSchema(io) : runWorker(await load(), options, load))),
    );
}

const EXAMPLES = `
Examples:
  # on stdin and stdout, for the program that starts it
  pickaxe worker
  # for programs that come and go, on a socket that only you can use
  pickaxe worker --listen unix:$XDG_RUNTIME_DIR/pickaxe.sock

docs/workers.md has the whole dialogue.`;

interface WorkerOptions {
  /** `unix:PATH` of the socket. If absent, stdin and stdout are used. */
  readonly listen?: string;
}

/** Maximum number of parents that are connected at the same time. A machine has far fewer. */
const MOST_CONNECTIONS = 64;

function printSchema(io: Io): number {
  const of = (schema: z.ZodType) => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12' });
    return rest;
  };
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'pickaxe worker: the lines of both directions',
    $defs: { toWorker: of(Request), fromWorker: of(Answer) },
    anyOf: [{ $ref: '#/$defs/toWorker' }, { $ref: '#/$defs/fromWorker' }],
  };
  io.out(`${JSON.stringify(schema, undefined, 2)}\n`);
  return EXIT.done;
}

async function runWorker(loaded: Loaded, { listen }: WorkerOptions, reload: () => Promise<Loaded>): Promise<number> {
  const path = listen === undefined ? undefined : orUsageError(() => socketPath(listen));
  const { config } = loaded;
  const { close, announce, ...prepared } = await prepare(loaded, reload, { usesStdin: path === undefined });
  const setup = announce({});
  try {
    const engines = await chooseEngines(config, prepared.log, {
      mayBeNone: prepared.relays.length > 0,
      minesAtOnce: true,
    });
    const events = new Events();
    const worker = new Worker({ events, engines, rigName: prepared.rigName, path });
    const sidecars = [...prepared.sidecars, worker.sidecar];
    // Only the parent knows the rewards of blocks, so earnings are not estimated in coins.
    const earnings = { ...prepared.earnings, coinsAt: undefined };
    const rig = { events, source: worker.source, engines, ...prepared, setup, sidecars, earnings };
    // Nothing but the protocol may be written to stdout.
    return await runMiner({ ...rig, writeJson: undefined }, {});
  } finally {
    await close();
  }
}

interface WorkerParts {
  readonly events: Events;
  readonly engines: readonly Engine[];
  readonly rigName: string;
  /** Path of the socket; undefined when the parent uses stdin and stdout. */
  readonly path: string | undefined;
}

class Worker {
  readonly source: ParentSource;
  readonly #path: string | undefined;
  #controls: Controls | undefined;

  constructor({ events, engines, rigName, path }: WorkerParts) {
    this.#path = path;
    const clock = systemClock;
    const tally = new Tally(clock, engines);
    events.on(tally.listen);
    const rig = new WorkerRig({ rigName, devices: engines, tally, answer: (answer) => this.source.answer(answer) });
    events.on(rig.listen);
    this.source = new ParentSource({
      name: path === undefined ? 'the parent' : `unix:${path}`,
      rig,
      emit: events.emit,
      clock,
      hashes: () => tally.summary().hashes,
      drain: (session, reason) => this.#drain(session, reason),
      deserted: () => {
        if (path === undefined) this.#controls?.stop();
      },
    });
    // Without a usable device the miner ends by itself. Then parents get the reason `no-device`.
    events.on((event) => {
      if (event.type === 'device' && event.state === 'parked') this.#noteEnd(tally);
    });
  }

  readonly sidecar: Sidecar = async ({ controls }) => {
    this.#controls = controls;
    if (this.#path === undefined) {
      const { stdin: input, stdout: output } = process;
      this.source.connect({ input, output, end: () => input.destroy() });
      return () => {};
    }
    return await this.#listen(this.#path);
  };

  async #listen(path: string): Promise<() => Promise<void>> {
    try {
      return await listenAt(path, (socket) => {
        const streams = { input: socket, output: socket, end: () => endSoon(socket) };
        if (this.source.sessions < MOST_CONNECTIONS) this.source.connect(streams);
        else refuse(socket);
      });
    } catch (fault) {
      throw new UsageError(`${(fault as Error).message}.`);
    }
  }

  /** Ends the worker if it uses stdin and stdout. On a socket, only the session ends, and other parents can connect. */
  #drain(session: ParentSession, reason: ByeReason): void {
    if (this.#path === undefined) {
      this.source.byeReason = reason;
      this.#controls?.stop();
    } else {
      void session.drain(reason);
    }
  }

  #noteEnd(tally: Tally): void {
    const all = Object.values(tally.status().devices);
    if (all.every(({ state }) => state === 'parked')) this.source.byeReason = 'no-device';
  }
}

function refuse(socket: Socket): void {
  const message = `${MOST_CONNECTIONS} parents are connected already: end one of them first`;
  const answer: Answer = { type: 'error', code: 'too-many-connections', message, line: 0 };
  socket.on('error', () => {});
  socket.write(answerLine(answer));
  endSoon(socket);
}

interface WorkerRigOptions {
  readonly rigName: string;
  readonly devices: readonly { readonly name: string; readonly kind: DeviceKind }[];
  readonly tally: Tally;
  readonly answer: (answer: Answer) => void;
}

class WorkerRig implements RigView {
  readonly #options: WorkerRigOptions;
  /** The last state of each device, by name. */
  readonly #devices = new Map<string, AnswerOf<'device'>>();
  /** The state of the whole rig, in the form of the message to parents; undefined before it is known. */
  #state: AnswerOf<'ready'> | AnswerOf<'paused'> | undefined;

  constructor(options: WorkerRigOptions) {
    this.#options = options;
    // A rig without devices is ready at once, because the workers of its relays hash for it.
    if (options.devices.length === 0) this.#state = { type: 'ready', devices: [] };
  }

  /** Must be called after the tally has handled the event. */
  readonly listen = (event: MinerEvent): void => {
    if (event.type !== 'device') return;
    const { device, kind, state, description, reason } = event;
    const answer = {
      type: 'device',
      device,
      kind,
      state,
      description,
      ...(reason !== undefined && { reason }),
    } as const;
    this.#devices.set(device, answer);
    this.#options.answer(answer);
    const now = this.#overallState();
    if (now === undefined || JSON.stringify(now) === JSON.stringify(this.#state)) return;
    this.#state = now;
    this.#options.answer(now);
  };

  greeting(): readonly Answer[] {
    const { rigName, devices } = this.#options;
    const hello: AnswerOf<'hello'> = {
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      version,
      rig: rigName,
      capabilities: [...CAPABILITIES],
      limits: LIMITS,
      devices: devices.map(({ name: device, kind }) => ({ device, kind })),
    };
    return [hello, ...this.#devices.values(), ...(this.#state ? [this.#state] : [])];
  }

  stats(): ReturnType<RigView['stats']> {
    const { uptimeSeconds, hashes, hashesPerSecond, hardwareErrors, devices: all } = this.#options.tally.status();
    const devices = Object.entries(all).map(([name, { kind, state, hashesPerSecond, hashes }]) => {
      return [name, { kind, state, hashesPerSecond, hashes }] as const;
    });
    return {
      type: 'stats',
      uptimeSeconds,
      hashes,
      hashesPerSecond,
      hardwareErrors,
      devices: Object.fromEntries(devices),
    };
  }

  /** @returns `ready` or `paused`; undefined while no device is ready and some devices have no state yet */
  #overallState(): AnswerOf<'ready'> | AnswerOf<'paused'> | undefined {
    const known = [...this.#devices.values()];
    const ready = known.filter(({ state }) => state === 'ready').map(({ device }) => device);
    if (ready.length > 0) return { type: 'ready', devices: ready };
    // A device that has no state yet may become ready soon.
    if (known.length < this.#options.devices.length) return undefined;
    const reasons = new Set(known.map(({ device, state, reason = state }) => `${device}: ${reason}`));
    return { type: 'paused', reason: [...reasons].join('; ') };
  }
}
