/** A coordinator on a source and NATS servers that do what a test tells them. */

import { setMaxListeners } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { CoordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { FleetRelay, type FleetRelayOptions } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import {
  CoordinatorState,
  messageBytes,
  readMessage,
  SolutionAnswer,
  type SolutionRequest,
} from '#pickaxe/fleet/messages.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { RelayRefusal } from '#pickaxe/miner/relay/relay.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { eventually } from '../../miner/source/follow.ts';
import { type FakeLink, FakeNats } from '../nats/fake-nats.ts';

export const subjects = new FleetSubjects('pickaxe');
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
/** So long that no timer of the coordinator has an effect in a test that does not ask for it. */
const LONG_MS = 3_600_000;
/** How long a rig of a test waits for an answer that comes at once. */
const PATIENCE_MS = 60_000;

export interface Options
  extends Partial<Pick<FleetRelayOptions, 'submitElsewhere' | 'instance' | 'faultOfSource' | 'parentOf'>> {
  readonly name?: string;
  readonly nats?: FakeNats;
  readonly limits?: Partial<CoordinatorLimits>;
}

let instances = 0;

export class Coordinator {
  readonly name: string;
  readonly nats: FakeNats;
  readonly link: FakeLink;
  readonly source = new FakeSource();
  readonly events = new Recorder();
  readonly lines: string[] = [];
  /** Updates that the coordinator got. */
  readonly updates: SourceUpdate[] = [];
  /** States as all members receive them, in order. */
  readonly states: CoordinatorState[] = [];
  readonly relay: FleetRelay;
  nowMs = 0;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor({
    name = 'c1',
    nats = new FakeNats(),
    limits,
    submitElsewhere,
    instance,
    faultOfSource,
    parentOf,
  }: Options = {}) {
    this.name = name;
    this.nats = nats;
    this.link = nats.link(name);
    const listener = nats.link('listener');
    for (const subject of [subjects.work(name), subjects.beat(name)]) {
      listener.subscribe(subject, ({ data }) => this.states.push(readMessage(CoordinatorState, data)!));
    }
    const follow = this.source.follow.bind(this.source);
    this.source.follow = (listener, stop) =>
      follow((update) => {
        this.updates.push(update);
        listener(update);
      }, stop);
    const log = (line: string) => void this.lines.push(line);
    this.relay = new FleetRelay({
      source: this.source,
      emit: this.events.listen,
      clock: { ...systemClock, monotonicMs: () => this.nowMs },
      log: { debug: log, info: log, warn: log },
      link: this.link,
      subjects,
      name,
      instance: instance ?? (++instances).toString(16).padStart(16, '0'),
      submitElsewhere,
      parentOf,
      ...(faultOfSource && { faultOfSource }),
      limits: { beatMs: LONG_MS, reportMs: LONG_MS, connectMs: 0, answerMs: PATIENCE_MS, ...limits },
    });
  }

  static async start(options?: Options): Promise<Coordinator> {
    const coordinator = new Coordinator(options);
    await coordinator.start();
    return coordinator;
  }

  async start(): Promise<void> {
    await this.relay.open();
    this.#running = this.relay.run(this.#stop.signal);
    const ended = this.#running.catch((fault) => {
      if (!(fault instanceof RelayRefusal)) throw fault;
    });
    onTestFinished(async () => {
      this.#stop.abort();
      await ended;
    });
  }

  /** Rejects if it may not go on. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Gives work, by default so easy that every fourth header solves it. @returns it once it is published */
  async work(work = makeWork(4)): Promise<{ work: Work; name: string }> {
    const before = this.states.length;
    this.source.work(work);
    const { given } = await eventually(() => {
      const state = this.states.slice(before).find(({ given }) => given);
      expect(state).toBeDefined();
      return state!;
    });
    return { work, name: given!.name };
  }
}

export class TestRig {
  readonly name: string;
  readonly link: FakeLink;

  constructor(nats: FakeNats, name: string) {
    this.name = name;
    this.link = nats.link(name, subjects.inbox(name));
  }

  hello(coordinator: string): Promise<CoordinatorState | undefined> {
    return this.#ask(subjects.hello(coordinator, this.name), {}).then((data) => readMessage(CoordinatorState, data));
  }

  /** @param solution with a header, as hex or in the solution */
  solve(coordinator: string, work: string, solution: Pick<Solution, 'header'> | string): Promise<SolutionAnswer> {
    return this.request(subjects.solution(coordinator, this.name), solutionRequest(coordinator, work, solution));
  }

  fallback(coordinator: string, work: string, solution: Pick<Solution, 'header'> | string): Promise<SolutionAnswer> {
    return this.request(subjects.fallback(this.name), solutionRequest(coordinator, work, solution));
  }

  async request(subject: string, message: unknown): Promise<SolutionAnswer> {
    return SolutionAnswer.parse(readMessage(SolutionAnswer, await this.#ask(subject, message)));
  }

  #ask(subject: string, message: unknown): Promise<Uint8Array> {
    return this.link.request(subject, messageBytes(message), PATIENCE_MS, NEVER);
  }
}

export function solutionRequest(
  coordinator: string,
  work: string,
  solution: Pick<Solution, 'header'> | string,
): SolutionRequest {
  return { coordinator, work, header: typeof solution === 'string' ? solution : toHex(solution.header) };
}

/** @returns a state without work, with these fields instead of its own */
export const stateOf = (instance: string, number: number, more: Partial<CoordinatorState> = {}): CoordinatorState => ({
  instance,
  number,
  version: '1',
  work: null,
  latestTimeMicros: 0,
  ended: [],
  lost: null,
  ...more,
});
