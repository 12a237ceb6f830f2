/** Keeps devices busy with challenges, all at once, and checks each answer: no wrong claim, no candidate missed. */

import type { Engine } from '../engine/engine.ts';
import { onAbort } from '../system/abort.ts';
import type { Clock } from '../system/clock.ts';
import { MOST_COUNT, makeChallenge } from './challenge.ts';
import { answer } from './claims.ts';
import { inStep, type OpenOptions, openAll } from './open.ts';
import { type Answer, type Sample, StressBooks } from './stress-books.ts';

/** Nonces of a device's first round: seconds for the slowest kernel on one thread. */
const FIRST_COUNT = 2 ** 24;
/**
 * Rounds grow until they take this long, and on for as long as the hashrate grows with them: a fast GPU is busy with long
 * batches then, and its claims are few enough.
 */
const ROUND_MS = 1_000;
const LONGEST_ROUND_MS = 5_000;
/** From one round to the next, by a power of two; one odd round must not make the next one endless. */
const MOST_GROWTH = 16;
/** A hashrate that grows by less than this part does not grow. Only good enough. */
const GROWTH_WORTH = 0.2;
/** Wrong rounds that are told of at once: all are counted, but a broken device has nothing else. */
const TOLD_ROUNDS = 10;

export interface StressOptions extends OpenOptions {
  readonly seed: string;
  /** Nonces of each round; left out, as many as take a second. */
  readonly count?: number | undefined;
  /** From when the devices are open. */
  readonly seconds: number;
  /** Ends it before that. */
  readonly stop: AbortSignal;
  readonly clock: Clock;
  /** Between samples of each device's state. */
  readonly sampleMs: number;
  /** Told of each. */
  readonly onSample: (books: StressBooks, sample: Sample) => void;
  /** Told of what is wrong with a round, of the first such rounds of each device. */
  readonly onError: (engine: Engine, errors: readonly string[]) => void;
}

/** @returns the books of each device that could be opened. Engines are closed after that. */
export async function stressDevices(engines: readonly Engine[], options: StressOptions): Promise<StressBooks[]> {
  const { seed, seconds, stop, clock, sampleMs, failed, onSample } = options;
  const end = new AbortController();
  const halt = () => end.abort();
  const release = onAbort(stop, halt);
  const timers: NodeJS.Timeout[] = [];
  const answers = new Map<number, Answer>();
  const answerFor = (count: number): Answer => {
    const known = answers.get(count);
    if (known) return known;
    const made = { challenge: makeChallenge(seed, count), found: new Set<bigint>() };
    answers.set(count, made);
    return made;
  };
  try {
    const all = (await openAll(engines, options)).map((opened) => new StressBooks(opened));
    const busy = new Set(all);
    const startMs = clock.monotonicMs();
    const sample = (books: StressBooks) => onSample(books, books.sample((clock.monotonicMs() - startMs) / 1000));
    timers.push(
      setTimeout(halt, 1000 * seconds),
      setInterval(() => busy.forEach(sample), sampleMs),
    );
    await inStep(all, failed, (books) =>
      work(books, answerFor, end.signal, options).finally(() => {
        busy.delete(books);
        if (books.samples.length === 0) sample(books);
      }),
    );
    return all;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    release();
    await Promise.all(engines.map((engine) => engine.close()));
  }
}

/** Round after round, until `stop`. @throws DeviceError when the device is lost. */
async function work(
  books: StressBooks,
  answerFor: (count: number) => Answer,
  stop: AbortSignal,
  { count, clock, onError }: StressOptions,
): Promise<void> {
  const { engine } = books;
  let nonces = count ?? FIRST_COUNT;
  let best = 0;
  let wrongRounds = 0;
  while (!stop.aborted) {
    const round = answerFor(nonces);
    const beganMs = clock.monotonicMs();
    try {
      await answer(engine, books.beginRound(round), stop, ({ hashes }) => books.hashed(hashes));
    } finally {
      const errors = books.endRound(round);
      if (errors.length > 0 && wrongRounds++ < TOLD_ROUNDS) onError(engine, errors);
    }
    if (count !== undefined) continue;
    const ms = clock.monotonicMs() - beganMs;
    const rate = nonces / ms;
    nonces = Math.min(MOST_COUNT, nonces * growthAfter(ms, rate > (1 + GROWTH_WORTH) * best));
    best = Math.max(best, rate);
  }
}

/**
 * How many times as large the next round is.
 * @param faster whether the device was faster than in smaller rounds
 */
function growthAfter(ms: number, faster: boolean): number {
  if (ms < ROUND_MS) return Math.min(MOST_GROWTH, 2 ** Math.ceil(Math.log2(ROUND_MS / Math.max(ms, 1))));
  return faster && ms < LONGEST_ROUND_MS ? 2 : 1;
}
