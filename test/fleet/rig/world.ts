/** A fleet in memory: a rig's source of work, and coordinators that do what a test tells them. */

import { onTestFinished, vi } from 'vitest';
import {
  type CoordinatorState,
  givenWorkOf,
  messageBytes,
  readMessage,
  type SolutionAnswer,
  SolutionRequest,
} from '#pickaxe/fleet/messages.js';
import type { Link, LinkMessage } from '#pickaxe/fleet/nats/link.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import type { FleetLimits } from '#pickaxe/fleet/rig/rig-limits.js';
import { FALLBACK_QUEUE, FleetSubjects } from '#pickaxe/fleet/subjects.js';
import type { StaleReason } from '#pickaxe/miner/events/vocabulary.js';
import type { NamedNetwork } from '#pickaxe/miner/source/source.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { makeWork, Recorder } from '../../fakes.ts';
import { Follower } from '../../miner/source/follow.ts';
import { type FakeLink, FakeNats } from '../nats/fake-nats.ts';

export const SUBJECTS = new FleetSubjects('pickaxe');

/** Lets time pass. The tests of this folder replace the clock. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

let instances = 0;

/** On servers in memory, or with a link to real ones. */
export class FakeCoordinator<OwnLink extends Pick<Link, 'publish' | 'subscribe'> = FakeLink> {
  readonly name: string;
  readonly link: OwnLink;
  instance = (++instances).toString(16).padStart(16, '0');
  number = 0;
  works = 0;
  /** The state's other fields. */
  lost: string | null = null;
  fault: string | undefined;
  ended: { name: string; reason: StaleReason }[] = [];
  current: { name: string; work: Work } | undefined;
  readonly names = new Map<Work, string>();
  /** Microseconds by which its clock is ahead of this machine's. */
  aheadMicros = 0;
  hellos = 0;
  /** Answers hello requests. */
  answersHello = true;
  /** The requests with solutions, and how they came. */
  readonly requests: { readonly request: SolutionRequest; readonly isFallback: boolean }[] = [];
  /** Answers a solution; undefined for no answer. */
  answer: (request: SolutionRequest, isFallback: boolean) => SolutionAnswer | undefined = () => ({
    state: 'verdict',
    outcome: 'accepted',
    reason: '',
    by: `${this.name}’s node`,
  });
  #beats: NodeJS.Timeout | undefined;
  #ends: (() => void)[] = [];
  /** Makes it answer no fallback requests. The queue group of a real server chooses a member at random. */
  leaveQueue: () => void = () => {};

  constructor(nats: { link(name: string, inbox: string): OwnLink }, name: string) {
    this.name = name;
    this.link = nats.link(name, SUBJECTS.inbox(name));
    this.revive();
  }

  /** Subscribes, and publishes a state each second from now on. */
  revive(): void {
    const solution = (isFallback: boolean) => (message: LinkMessage) => this.#solution(message, isFallback);
    this.leaveQueue = this.link.subscribe(SUBJECTS.fallbacks, solution(true), FALLBACK_QUEUE);
    this.#ends = [
      this.link.subscribe(SUBJECTS.hellosTo(this.name), ({ reply }) => {
        this.hellos++;
        if (this.answersHello && reply !== undefined) this.link.publish(reply, messageBytes(this.state(true)));
      }),
      this.link.subscribe(SUBJECTS.solutionsTo(this.name), solution(false)),
      this.leaveQueue,
    ];
    clearInterval(this.#beats);
    this.#beats = setInterval(() => this.publish(), 1_000);
  }

  /** As after kill -9: the servers notice that its connection has ended. */
  die(): void {
    this.freeze();
    for (const end of this.#ends) end();
  }

  stopBeats(): void {
    clearInterval(this.#beats);
  }

  /** As after SIGSTOP: it stays connected, and answers nothing. */
  freeze(): void {
    this.stopBeats();
    this.answersHello = false;
    this.answer = () => undefined;
  }

  state(isWhole: boolean): CoordinatorState {
    const { instance, current, lost, ended } = this;
    return {
      instance,
      number: this.number++,
      version: '1.0.0',
      work: current?.name ?? null,
      ...(isWhole && current && { given: givenWorkOf(current.work, current.name) }),
      latestTimeMicros: Date.now() * 1000 + this.aheadMicros,
      ended: ended.slice(0, 16),
      lost,
      ...(this.fault !== undefined && { fault: this.fault }),
    };
  }

  publish(isWhole = false): void {
    const subject = isWhole ? SUBJECTS.work(this.name) : SUBJECTS.beat(this.name);
    this.link.publish(subject, messageBytes(this.state(isWhole)));
  }

  /** Gives a work to the rigs. @param isWhole whether they are told more than its name */
  give(work = makeWork(100), isWhole = true): Work {
    const name = this.names.get(work) ?? `${this.instance}-${++this.works}`;
    this.names.set(work, name);
    this.current = { name, work };
    this.publish(isWhole);
    return work;
  }

  end(work: Work, reason: StaleReason): void {
    const name = this.names.get(work) as string;
    this.ended = [{ name, reason }, ...this.ended];
    if (this.current?.name === name) this.current = undefined;
    this.publish();
  }

  #solution({ data, reply }: LinkMessage, isFallback: boolean): void {
    const request = readMessage(SolutionRequest, data) as SolutionRequest;
    this.requests.push({ request, isFallback });
    const answer = this.answer(request, isFallback);
    if (answer && reply !== undefined) this.link.publish(reply, messageBytes(answer));
  }
}

export interface World {
  readonly nats: FakeNats;
  readonly link: FakeLink;
  readonly source: FleetSource;
  readonly follower: Follower;
  readonly recorder: Recorder;
  /** In the rig's order of preference. */
  readonly coordinators: readonly FakeCoordinator[];
  /** The header of the work that was given last, in hex. */
  readonly header: () => string;
  /** The name of the coordinator whose work was given last. */
  readonly mined: () => string;
  /** Kinds of the updates so far. */
  readonly kinds: () => string[];
  readonly told: () => string[];
}

/** @param names of coordinators in the order of preference of a rig with this name: see the test of the order */
export function world(
  names: readonly string[] = ['a'],
  limits: Partial<FleetLimits> = {},
  rig = 'rig1',
  network?: NamedNetwork,
  random = 0.5,
): World {
  const nats = new FakeNats();
  const link = nats.link(rig, SUBJECTS.inbox(rig));
  const recorder = new Recorder();
  const options = { name: 'nats://fake:4222', link, subjects: SUBJECTS, rig, network };
  const source = new FleetSource(options, { emit: recorder.listen, limits, random: () => random });
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  const coordinators = names.map((name) => new FakeCoordinator(nats, name));
  const current = () => {
    const work = follower.received.at(-1);
    if (!work) throw new Error('no work was given');
    return work;
  };
  return {
    nats,
    link,
    source,
    follower,
    recorder,
    coordinators,
    header: () => Buffer.from(current().header).toString('hex'),
    mined: () => source.nameOf(current()),
    kinds: () => follower.updates.map(({ kind }) => kind),
    told: () => recorder.of('source').map((event) => `${event.source} ${event.state}: ${event.reason}`),
  };
}

/** @returns the times at which messages of such a subject come from now on, in ms from now */
export function timesOf({ nats }: Pick<World, 'nats'>, ...subjects: readonly string[]): number[] {
  const startMs = performance.now();
  const times: number[] = [];
  for (const subject of subjects) {
    nats.link('observer').subscribe(subject, () => times.push(Math.round(performance.now() - startMs)));
  }
  return times;
}

export function hexOf({ header }: Pick<Work, 'header'>): string {
  return Buffer.from(header).toString('hex');
}
