/**
 * Members of a simulated network: rigs and coordinators, composed from settings as the product's commands compose them.
 * A member can be killed, frozen and started again.
 */

// The product loads these modules when it needs them. In a run, they are there from the start: time stands still
// while a module loads.
import '#pickaxe/app/composition/block-recorder.js';
import '#pickaxe/app/composition/fleet-rig.js';
import '#pickaxe/app/nodes/node-watch.js';
import '#pickaxe/app/nodes/parent-header.js';
import '#pickaxe/fleet/coordinator/fleet-relay.js';
import { type Logger, pino } from 'pino';
import { ChosenSource } from '#pickaxe/app/composition/choose-source.js';
import { composeRig } from '#pickaxe/app/composition/compose-rig.js';
import type { RigContext } from '#pickaxe/app/composition/context.js';
import type { FleetMember } from '#pickaxe/app/composition/fleet-link.js';
import { LiveConfig, refresh } from '#pickaxe/app/composition/reload.js';
import { type MakeRelay, runMiner, type Sidecar } from '#pickaxe/app/composition/run-miner.js';
import { followBlocks } from '#pickaxe/app/composition/sidecars.js';
import type { Loaded } from '#pickaxe/app/config/load.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { EXIT, UsageError } from '#pickaxe/app/process/exit.js';
import { type Restart, withRestarts } from '#pickaxe/app/process/restarts.js';
import { wallMs } from '#pickaxe/base/system/clock.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import type { Engine } from '#pickaxe/miner/engine/engine.js';
import { Events, type MinerEvent } from '#pickaxe/miner/events/events.js';
import type { Random } from '#pickaxe/mock-node/random.js';
import { MemoryStore } from '#pickaxe/node/blocks/block-log.js';
import { LOG_LINE_OPTIONS, LogTail } from '#pickaxe/rig/log/log-tail.js';
import type { SimulatedLink, SimulatedNats } from './nats.ts';
import { type SimulatedNode, transportOf } from './node.ts';
import { RunCounts } from './run-counts.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';

export type Settings = { readonly [Group in keyof Config]?: Partial<Config[Group]> };

/** Settings that mine on these nodes, in this order of preference. */
export const onNodes = (urls: readonly string[]): Settings => ({ node: { urls: [...urls] } });

/** Settings that mine on these pools, in this order of preference. */
export const onPools = (urls: readonly string[], user: string, difficulty?: number): Settings => {
  return { pool: { urls: [...urls], user, ...(difficulty !== undefined && { difficulty }) } };
};

/** Settings of a rig of a fleet. */
export const inFleet: Settings = { nats: { urls: ['nats://simulated'] } };

/** A file of settings, which people change while a member runs. */
export class SettingsFile {
  urls: readonly string[];
  /** Why the file cannot be used; undefined if it can. */
  brokenBy: 'a mistake' | 'no nodes' | undefined;

  constructor(urls: readonly string[]) {
    this.urls = urls;
  }

  /** @throws UsageError when the file cannot be read */
  readonly read = (): Settings => {
    if (this.brokenBy === 'a mistake') throw new UsageError('line 3: a mistake');
    return onNodes(this.brokenBy === 'no nodes' ? [] : this.urls);
  };
}

/** @returns the settings as the commands have them after they were read and checked */
export function configOf(settings: Settings): Config {
  const groups = Object.entries(DEFAULTS).map(([name, group]) => {
    return [name, { ...group, ...settings[name as keyof Settings] }];
  });
  const { node, miner, ...rest } = Object.fromEntries(groups) as Config;
  const key = 'aa'.repeat(32);
  return { ...rest, node: { ...node, network: 'development' }, miner: { ...miner, publicKeys: [key] } };
}

export interface MemberOptions {
  readonly name: string;
  readonly simulation: Simulation;
  /** Returns the settings, as a file has them now. @throws UsageError when they cannot be read */
  readonly settings: () => Settings;
  /** The nodes that can be reached over the network. */
  readonly nodes: readonly SimulatedNode[];
  /** The fleet of a rig or a coordinator. */
  readonly nats?: SimulatedNats;
  /** Whether this member gives the works of its nodes to the rigs of its fleet. */
  readonly coordinates?: boolean;
  /** How far the clocks of this member's processes are off at most. */
  readonly mostSkewMs: number;
  /** Returns what else each process uses from outside, such as connections to pools. */
  readonly context?: (process: SimulatedProcess, random: Random) => Partial<RigContext>;
  /** Called with each event. */
  readonly emit?: (event: MinerEvent) => void;
}

export abstract class SimulatedMember {
  readonly name: string;
  process!: SimulatedProcess;
  /** Whether the process is frozen because its machine sleeps, after which its connections are dead. */
  isMachineAsleep = false;
  hasEnded = false;
  /** Number of timers that were set a second after the process had ended. */
  timersAtEnd = 0;
  /** Generates what this member's processes do at random. */
  protected readonly random: Random;
  readonly #options: MemberOptions;
  #stop = () => {};
  #live: LiveConfig | undefined;
  #link: SimulatedLink | undefined;
  #log!: Logger;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.#options = options;
    this.random = options.simulation.random(options.name);
  }

  get timers(): number {
    return this.process.timers;
  }

  /** Whether its process is there, which may be frozen or about to end. */
  get isRunning(): boolean {
    return this.process !== undefined && !this.process.isDead && !this.hasEnded;
  }

  /** @returns what runs beside the miner in a new process */
  protected sidecars(): readonly Sidecar[] {
    return [];
  }

  /** @returns the devices of a new process */
  protected abstract engines(): readonly Engine[];

  /** @returns what gives the work of a new process to other hashers, besides its fleet */
  protected relays(): readonly MakeRelay[] {
    return [];
  }

  /** Whether a process may end with this exit code. */
  protected mayEndWith(code: number): boolean {
    return code === EXIT.done;
  }

  /** Called with each event of the present process. */
  protected abstract listen(event: MinerEvent): void;

  /** Starts the member, after the first start or after it was killed or has ended. */
  start(): void {
    if (this.isRunning) return;
    const { simulation, mostSkewMs } = this.#options;
    const process = simulation.time.start(this.name, Math.round((2 * this.random() - 1) * mostSkewMs));
    this.process = process;
    this.hasEnded = false;
    this.isMachineAsleep = false;
    this.#live = undefined;
    this.#link = undefined;
    this.#run(process).then(
      (code) => {
        if (process.isDead) return;
        if (!this.mayEndWith(code)) simulation.violate(`${this.name} has ended with the code ${code}`);
        this.hasEnded = true;
        // What is on its way to the process arrives by its timers, too.
        process.after(1_000, () => {
          this.timersAtEnd = process.timers;
        });
      },
      (fault) => {
        if (process.isDead) return;
        simulation.violate(`${this.name} has thrown ${fault instanceof Error ? fault.stack : fault}`);
      },
    );
  }

  /** Ends the process as SIGKILL does. */
  kill(): void {
    this.process.kill();
  }

  freeze(): void {
    this.process.freeze();
  }

  thaw(): void {
    if (!this.process.isFrozen) return;
    this.process.thaw();
    if (this.isMachineAsleep) this.process.reconnect();
    this.isMachineAsleep = false;
  }

  /** Ends the process as SIGTERM does. */
  stop(): void {
    this.#stop();
  }

  /** The settings of the present process, as it applies them. */
  get config(): Config | undefined {
    return this.#live?.config;
  }

  /** Whether the present process runs and has been composed. */
  get isComposed(): boolean {
    return !this.process.isDead && this.#live !== undefined;
  }

  /** Whether its connection to the fleet is there, and nothing holds its messages. */
  get isConnected(): boolean {
    return this.#link?.state.isConnected === true && this.#link.heldUntilMs <= this.process.virtualMs;
  }

  /** When its connection to the fleet was last interrupted, or something held its messages, in virtual time. */
  get disconnectedMs(): number {
    return Math.max(this.#link?.changedMs ?? 0, this.#link?.heldUntilMs ?? 0);
  }

  /** Lets the process read its settings again, as after a change of its file. */
  async reload(): Promise<void> {
    if (this.#live && !this.process.isDead) await refresh(this.#live, this.#log);
  }

  async #run(process: SimulatedProcess): Promise<number> {
    let stop = () => {};
    let isStopped = false;
    this.#stop = () => {
      isStopped = true;
      stop();
    };
    const canStop: Sidecar = async ({ controls }) => {
      stop = () => controls.stop();
      if (isStopped) stop();
      return () => {};
    };
    const reload = async (): Promise<Loaded> => {
      const config = configOf(this.#options.settings());
      return { config, origins: new Map(), files: [] };
    };
    const mine = (loaded: Loaded, run: Config['run'], restart: Restart) =>
      this.#mineOnce(process, { loaded, reload, run, restart, canStop });
    return await withRestarts(await reload(), reload, mine, process.clock);
  }

  async #mineOnce(process: SimulatedProcess, { loaded, reload, run, restart, canStop }: Attempt): Promise<number> {
    const { nodes, coordinates = false, emit } = this.#options;
    const { config } = loaded;
    const { clock } = process;
    const more = this.#options.context?.(process, this.random);
    const context: RigContext = { clock, random: this.random, transport: transportOf(nodes, process), ...more };
    const events = new Events();
    events.on((event) => {
      if (process.isDead) return;
      emit?.(event);
      this.listen(event);
    });
    const isForFleet = config.nats.urls !== undefined && !coordinates;
    const chosen = isForFleet ? undefined : new ChosenSource(config, events, context, coordinates);
    const live = new LiveConfig(loaded, reload);
    const counts = new RunCounts(
      () => this.#options.simulation.time.nowMs,
      (what) => this.#options.simulation.violate(`${this.name} ${what}`),
    );
    process.onKill(() => counts.check());
    events.on((event) => counts.listen(event));
    const logTail = new LogTail();
    const lines = {
      write: (line: string) => {
        logTail.write(line);
        counts.write(line);
      },
    };
    const log = pino({ ...LOG_LINE_OPTIONS, timestamp: () => `,"timeMillis":${wallMs(clock)}` }, lines);
    const member = this.#fleetMember(process);
    this.#live = live;
    this.#link = member?.link;
    this.#log = log;
    const { sidecars, ...composed } = await composeRig({
      chosen,
      member,
      live,
      events,
      context,
      log,
      temperatureLimits: () => undefined,
      restart,
      reload,
      blockLog: (options, live) => followBlocks(options, () => new MemoryStore(), live),
    });
    const relays = [...this.relays(), ...composed.relays];
    const parts = { rigName: this.name, events, context, engines: this.engines(), log, logTail, restart };
    const rig = { ...parts, ...composed, relays };
    try {
      const code = await runMiner(
        { ...rig, sidecars: [canStop, counts.sidecar, ...this.sidecars(), ...sidecars] },
        run,
      );
      counts.check();
      return code;
    } finally {
      member?.link.close();
    }
  }

  #fleetMember(process: SimulatedProcess): (FleetMember & { readonly link: SimulatedLink }) | undefined {
    const { nats } = this.#options;
    if (!nats) return undefined;
    const { name } = this;
    const instance = Array.from({ length: 16 }, () => Math.floor(this.random() * 16).toString(16)).join('');
    const subjects = new FleetSubjects(DEFAULTS.nats.subject);
    return { name, instance, subjects, link: nats.connect(process, subjects.inbox(name)) };
  }
}

interface Attempt {
  readonly loaded: Loaded;
  readonly reload: () => Promise<Loaded>;
  readonly run: Config['run'];
  readonly restart: Restart;
  readonly canStop: Sidecar;
}

/** A coordinator, which has no devices. */
export class SimulatedCoordinator extends SimulatedMember {
  constructor(options: MemberOptions) {
    super({ ...options, coordinates: true });
    this.start();
  }

  protected override engines(): readonly Engine[] {
    return [];
  }

  protected override listen(): void {}
}
