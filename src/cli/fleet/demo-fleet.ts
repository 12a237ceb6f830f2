/** The fleet of `pickaxe fleet demo`: a NATS server and members, each a process, and a mock node in this process. */

import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { settledWithin } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { endWithPickaxe, killGroup, startGroup } from '../../base/system/process-group.ts';
import { jsonOrUndefined } from '../../base/text/plain-text.ts';
import { type ServerProcess, startServer } from '../../fleet/nats/server-program.ts';
import type { Outcome } from '../../miner/events/vocabulary.ts';
import { MockNode } from '../../mock-node/mock-node.ts';
import { JsonLine } from '../../rig/log/json-lines.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const NETWORK = 'development';
/** The miner's public key. Nobody has its secret key, so nobody gets the demo's rewards. */
const PUBLIC_KEY = '0'.repeat(64);
/** Difficulty of the first blocks. It is low enough for a block within seconds on any machine. */
const FIRST_DIFFICULTY = 2 ** 26;
/** Mean time between two blocks of the fleet, long enough for a person to read along. */
const BLOCK_SECONDS = 2;
/** Mean time between two blocks of simulated other miners. Each of these blocks leads to a New Cut. */
const RIVAL_MS = 1_000;
/** Maximum time for a member to end after SIGTERM. A rig first waits for the verdicts of its last solutions. */
const END_MS = 15_000;

export interface Verdict {
  readonly rig: string;
  /** The coordinator that the rig mines for when the verdict arrives; undefined if no coordinator is known. */
  readonly coordinator: string | undefined;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly chain: number;
  readonly height: number;
  readonly answerSeconds: number;
}

interface DemoListener {
  verdict(verdict: Verdict): void;
  /** Called when a rig begins to mine for a coordinator. @param before the rig's coordinator until now, if any */
  mines(rig: string, coordinator: string, before: string | undefined): void;
}

export type Account = Readonly<Record<Exclude<Outcome, 'delivered'> | 'found' | 'pending', number>>;

interface Member {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  /** The last line that the member has written to stderr. */
  lastWords: string;
}

export class DemoFleet {
  readonly nodeUrl: string;
  readonly serverUrl: string;
  readonly #folder: string;
  readonly #server: ServerProcess;
  readonly #node: MockNode;
  readonly #listener: DemoListener;
  readonly #members = new Map<string, Member>();
  /** The coordinator that each rig mines for, by the rig's name. */
  readonly #coordinators = new Map<string, string>();
  readonly #rates = new Map<string, number>();
  /** The outcome of each solution, by the solution's unique nonce; undefined while the solution has no verdict. */
  readonly #outcomes = new Map<string, Outcome | undefined>();

  private constructor(
    folder: string,
    server: ServerProcess,
    node: { readonly mock: MockNode; readonly url: string },
    listener: DemoListener,
  ) {
    this.#folder = folder;
    this.#server = server;
    this.#node = node.mock;
    this.nodeUrl = node.url;
    this.serverUrl = `nats://127.0.0.1:${server.ports.client}`;
    this.#listener = listener;
  }

  /** @param program the path of nats-server @throws Error if the server cannot be started */
  static async start(program: string, listener: DemoListener): Promise<DemoFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-fleet-demo-'));
    const mock = new MockNode({
      network: NETWORK,
      dialect: 'chainweb',
      difficulty: FIRST_DIFFICULTY,
      rivalMs: RIVAL_MS,
    });
    try {
      const server = await startServer({ program, config: 'listen: "127.0.0.1:-1"\n', folder });
      const { url } = await mock.start();
      return new DemoFleet(folder, server, { mock, url }, listener);
    } catch (fault) {
      await mock.close();
      rmSync(folder, { recursive: true, force: true });
      throw fault;
    }
  }

  startCoordinator(name: string): void {
    const node = ['--node', this.nodeUrl, '--network', NETWORK, '--public-key', PUBLIC_KEY];
    this.#start(name, ['coordinate', '--nats', this.serverUrl, ...node, '--rig-name', name], () => {});
  }

  startRig(name: string): void {
    const hash = ['--devices', 'cpu', '--threads', '1', '--rig-name', name];
    this.#start(name, ['mine', '--nats', this.serverUrl, ...hash, '--json'], (line) => this.#take(name, line));
  }

  /** @returns the names of the rigs that mine for a coordinator */
  rigsOf(coordinator: string): string[] {
    return [...this.#coordinators].flatMap(([rig, its]) => (its === coordinator ? [rig] : []));
  }

  /** Whether a rig mines for a coordinator, and a solution has been accepted. */
  get isMining(): boolean {
    return this.#coordinators.size > 0 && [...this.#outcomes.values()].includes('accepted');
  }

  get account(): Account {
    const outcomes = [...this.#outcomes.values()];
    const count = (wanted: Outcome | undefined) => outcomes.filter((outcome) => outcome === wanted).length;
    return {
      found: outcomes.length,
      accepted: count('accepted'),
      rejected: count('rejected'),
      stale: count('stale'),
      unknown: count('unknown'),
      pending: count(undefined),
    };
  }

  /** @returns the last log line of a member whose process has ended; undefined while the process runs */
  lastWordsOf(name: string): string | undefined {
    const { child, lastWords = '' } = this.#members.get(name) ?? {};
    const hasEnded = typeof child?.exitCode === 'number' || typeof child?.signalCode === 'string';
    return hasEnded ? lastWords : undefined;
  }

  /** Kills the processes of a member, with a signal that they cannot handle. */
  async kill(name: string): Promise<void> {
    const member = this.#members.get(name);
    if (!member) return;
    killGroup(member.child);
    await member.ended;
    this.#members.delete(name);
  }

  /** Asks members to end once their last solutions have verdicts. Kills the members that still run after 15 s. */
  async end(names: readonly string[]): Promise<void> {
    const ending = names.map(async (name) => {
      this.#members.get(name)?.child.kill('SIGTERM');
      const { ended = Promise.resolve() } = this.#members.get(name) ?? {};
      if (!(await settledWithin(systemClock, ended, END_MS))) await this.kill(name);
    });
    await Promise.all(ending);
  }

  /** Kills all processes that still run, closes the mock node, and removes the demo's folder. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#members.keys(), (name) => this.kill(name)));
    await this.#node.close();
    this.#server.process.kill('SIGKILL');
    await this.#server.ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #start(name: string, args: readonly string[], listener: (line: JsonLine) => void): void {
    const child = startGroup([process.execPath, MAIN, ...args], {
      cwd: this.#folder,
      env: withoutSettings(this.#folder),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithPickaxe(child);
    const ended = new Promise<void>((resolve) => {
      child.once('error', () => resolve());
      child.once('close', () => resolve());
    });
    const member: Member = { child, ended, lastWords: '' };
    this.#members.set(name, member);
    if (!child.stdout || !child.stderr) return;
    createInterface({ input: child.stderr }).on('line', (text) => {
      member.lastWords = text;
    });
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JsonLine.safeParse(jsonOrUndefined(text)).data;
      if (line) listener(line);
    });
  }

  #take(rig: string, line: JsonLine): void {
    if (line.type === 'solution') this.#outcomes.set(line.nonce, undefined);
    else if (line.type === 'verdict') this.#takeVerdict(rig, line);
    else if (line.type === 'hashrate') this.#adjustDifficulty(rig, line.hashesPerSecond);
    else if (line.type === 'source' && line.kind === 'fleet') {
      const isFirst = line.state === 'connected' && !this.#coordinators.has(rig);
      if (isFirst || (line.state === 'info' && line.reason.startsWith('takes over'))) this.#mines(rig, line.source);
    }
  }

  #takeVerdict(rig: string, line: Extract<JsonLine, { type: 'verdict' }>): void {
    const { outcome, reason, chain, height, answerSeconds } = line;
    this.#outcomes.set(line.nonce, outcome);
    this.#listener.verdict({
      rig,
      coordinator: this.#coordinators.get(rig),
      outcome,
      reason,
      chain,
      height,
      answerSeconds,
    });
  }

  #mines(rig: string, coordinator: string): void {
    const before = this.#coordinators.get(rig);
    this.#coordinators.set(rig, coordinator);
    if (before !== coordinator) this.#listener.mines(rig, coordinator, before);
  }

  #adjustDifficulty(rig: string, hashesPerSecond: number | null): void {
    if (!hashesPerSecond) return;
    this.#rates.set(rig, hashesPerSecond);
    const rate = [...this.#rates.values()].reduce((sum, each) => sum + each, 0);
    this.#node.ledger.difficulty = Math.max(1, rate * BLOCK_SECONDS);
  }
}

/** @returns an environment in which a member finds neither the user's settings nor the state of earlier runs */
function withoutSettings(folder: string): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PICKAXE_'));
  const own = { XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state') };
  return { ...Object.fromEntries(others), ...own };
}
