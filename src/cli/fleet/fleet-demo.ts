/** `pickaxe fleet demo`: runs a fleet on this machine, and kills one of its coordinators. */

import type { Command } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { onAbort, pause, setLongTimeout } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { findServer } from '../../fleet/nats/server-program.ts';
import { makeLog } from '../../rig/terminal/log.ts';
import type { Line } from '../io.ts';
import { settingsOf, timeOf, withSettings } from '../usage/options.ts';
import { type Account, DemoFleet, type Verdict } from './demo-fleet.ts';

const COORDINATORS = ['north', 'south'] as const;
/** A rig's name decides which coordinator it prefers: two rigs prefer the first coordinator, and one the second. */
const RIGS = ['alder', 'birch', 'elm'] as const;
const USUAL_SECONDS = 60;
/** Time at which a coordinator is killed, as a fraction of the duration. */
const KILLED_AT = 0.35;
/** Time at which that coordinator is started again, as a fraction of the duration. */
const BACK_AT = 0.65;
/** Maximum time until the first accepted block. Before that block, the CPU's kernels may have to be measured. */
const START_MS = 60_000;
const LOOK_MS = 50;

const HOW_TO_INSTALL = `The program nats-server is not installed. A fleet's members speak over such a server. To get it:
  Debian, Ubuntu: sudo apt-get install nats-server
  macOS:          brew install nats-server
  Windows:        winget install NATSAuthors.NATSServer
  other systems:  https://docs.nats.io/running-a-nats-service/introduction/installation
Then run this command again.`;

export function declareDemo(fleet: Command, { io, action }: Line): void {
  const demo = fleet
    .command('demo')
    .description('start a fleet on this machine: two coordinators, of which one is killed, and three rigs');
  withSettings(demo, 'log')
    .option('--duration <time>', 'how long it takes: seconds, or a time like 2m', timeOf, USUAL_SECONDS)
    .action(
      action(async ({ duration }: { readonly duration: number }) => {
        const loaded = await settingsOf(demo);
        return await runDemo(loaded, await serverProgram(), duration, io.stop);
      }),
    );
}

/** @returns the path of nats-server @throws UsageError with installation instructions if nats-server is not found */
export async function serverProgram(find: () => Promise<string | undefined> = findServer): Promise<string> {
  const program = await find();
  if (program === undefined) throw new UsageError(HOW_TO_INSTALL);
  return program;
}

type Say = (who: string, what: string, outcome?: Verdict['outcome']) => void;

/** @param seconds how long the fleet mines, after its first block */
async function runDemo({ config }: Loaded, program: string, seconds: number, stop: AbortSignal): Promise<number> {
  const log = makeLog(config.log.level, config.log.format);
  const say: Say = (tag, what, outcome) => log.info({ tag, ...(outcome === 'accepted' && { outcome }) }, what);
  const story = new Story(say);
  const fleet = await DemoFleet.start(program, story);
  try {
    say('demo', `a NATS server of its own at ${fleet.serverUrl} (${program})`);
    say('demo', `a mock node at ${fleet.nodeUrl}: its blocks are worth nothing`);
    say('demo', `${listed(COORDINATORS)} are coordinators: they get work from the node and publish it`);
    for (const name of COORDINATORS) fleet.startCoordinator(name);
    say('demo', `${listed(RIGS)} are rigs: each hashes with one CPU thread, and knows only the NATS server`);
    for (const name of RIGS) fleet.startRig(name);
    if (!(await isMining(fleet, stop))) return stop.aborted ? EXIT.done : EXIT.noWork;
    say('demo', `to watch it from another terminal: pickaxe fleet --nats ${fleet.serverUrl}`);
    await act(fleet, story, say, seconds, stop);
    say('demo', stop.aborted ? 'stops' : 'the time is over: the rigs end once their last blocks are answered');
    await fleet.end(RIGS);
    await fleet.end(COORDINATORS);
    for (const line of ending(fleet.account)) say('demo', line);
    return EXIT.done;
  } finally {
    await fleet.close();
  }
}

/**
 * Waits at most a minute for the first accepted block.
 * @returns whether there is one
 * @throws Error if a member has ended
 */
async function isMining(fleet: DemoFleet, stop: AbortSignal): Promise<boolean> {
  const names = [...COORDINATORS, ...RIGS];
  const untilMs = systemClock.monotonicMs() + START_MS;
  while (!fleet.isMining && !stop.aborted && systemClock.monotonicMs() < untilMs) {
    for (const name of names) {
      const words = fleet.lastWordsOf(name);
      if (words !== undefined) throw new Error(`${name} has ended: ${words}`);
    }
    await pause(systemClock, LOOK_MS, stop);
  }
  return fleet.isMining;
}

/** Lets the fleet mine for `seconds`. Meanwhile the coordinator with the most rigs is killed and started again. */
async function act(fleet: DemoFleet, story: Story, say: Say, seconds: number, stop: AbortSignal): Promise<void> {
  const over = new AbortController();
  const cancel = setLongTimeout(systemClock, () => over.abort(), 1_000 * seconds);
  const release = onAbort(stop, () => over.abort());
  try {
    await pause(systemClock, 1_000 * seconds * KILLED_AT, over.signal);
    if (over.signal.aborted) return;
    const [victim, other] = [...COORDINATORS].sort((a, b) => fleet.rigsOf(b).length - fleet.rigsOf(a).length);
    const rigs = fleet.rigsOf(victim);
    say('demo', `${victim} is killed now (kill -9), so it cannot say goodbye; ${minesFor(rigs, victim)}`);
    story.killed(victim, other, rigs);
    await fleet.kill(victim);
    await pause(systemClock, 1_000 * seconds * (BACK_AT - KILLED_AT), over.signal);
    if (over.signal.aborted) return;
    say('demo', `${victim} is started again`);
    story.revived();
    fleet.startCoordinator(victim);
    await pause(systemClock, 1_000 * seconds, over.signal);
  } finally {
    cancel();
    release();
  }
}

/** Logs the course of the demo. */
class Story {
  readonly #say: Say;
  #killedMs: number | undefined;
  #killed: { readonly victim: string; readonly other: string } | undefined;
  /** The rigs of the killed coordinator that do not mine for another coordinator yet. */
  #left = new Set<string>();

  constructor(say: Say) {
    this.#say = say;
  }

  /** Called just before the kill. @param rigs the rigs that mine for the victim */
  killed(victim: string, other: string, rigs: readonly string[]): void {
    this.#killed = { victim, other };
    this.#killedMs = systemClock.monotonicMs();
    this.#left = new Set(rigs);
  }

  revived(): void {
    this.#killed = undefined;
  }

  mines(rig: string, coordinator: string, before: string | undefined): void {
    if (before === undefined) {
      this.#say(rig, `mines for ${coordinator}`);
      return;
    }
    const isLeft = this.#left.delete(rig);
    const after = isLeft && this.#killedMs !== undefined ? systemClock.monotonicMs() - this.#killedMs : undefined;
    const when = after === undefined ? '' : `, ${(after / 1_000).toFixed(1)} s after the kill`;
    this.#say(rig, `mines for ${coordinator}${isLeft ? ' now' : ' again'}${when}`);
  }

  verdict({ rig, coordinator = 'a coordinator', outcome, reason, chain, height, answerSeconds }: Verdict): void {
    const way =
      coordinator === this.#killed?.victim
        ? `work of ${coordinator}, delivered by ${this.#killed.other}`
        : `by way of ${coordinator}`;
    const why = outcome === 'accepted' ? `${Math.round(1_000 * answerSeconds)} ms, ${way}` : reason;
    this.#say(rig, `found a block on chain ${chain}, height ${height}: ${outcome} (${why})`, outcome);
  }
}

/** @returns the last lines. All rigs have ended, so a block that is still pending will get no verdict */
function ending({ found, pending, ...outcomes }: Account): string[] {
  const sum = Object.entries({ ...outcomes, pending }).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    `${found} found = ${sum.join(' + ')}: ${pending === 0 ? 'none was lost' : `${pending} HAVE NO VERDICT`}`,
    'for a fleet of your own: docs/fleet.md, which begins with pickaxe fleet keys',
  ];
}

/** @returns the names in a text like `a, b and c` */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

function minesFor(rigs: readonly string[], coordinator: string): string {
  if (rigs.length === 0) return `no rig mines for ${coordinator}`;
  return `${listed(rigs)} ${rigs.length === 1 ? 'mines' : 'mine'} for ${coordinator}`;
}
