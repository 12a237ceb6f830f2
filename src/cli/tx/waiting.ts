/** Waits until commands have results, and says meanwhile what it waits for. */

import type { NodesInTurn, Subject } from '../../app/nodes-in-turn.ts';
import type { CommandResult } from '../../ledger/command/results.ts';
import { formatDuration } from '../../report/units.ts';
import { pause } from '../../system/abort.ts';
import type { Io } from './io.ts';
import { type ShownResult, showResult, without } from './results.ts';

export interface Waiting extends Subject {
  readonly nodes: Pick<NodesInTurn, 'ask'>;
  readonly chain: number;
  readonly requestKeys: readonly string[];
  /** How many blocks must be above that of each command. */
  readonly depth: number;
  /** 0: asks once. */
  readonly timeoutMs: number;
  /** When the commands are no longer taken: milliseconds since 1970. */
  readonly endsMs: number | undefined;
  readonly pauseMs: number;
  readonly io: Pick<Io, 'say' | 'now' | 'stop'>;
}

/** The clocks of blocks lag behind ours, and a command can be in the last block of its time. */
const GRACE_MS = 300_000;

/** @returns for each request key its result, or that there is none yet or will be none @throws ApiError */
export async function waitForResults(waiting: Waiting): Promise<ShownResult[]> {
  const { requestKeys, io, timeoutMs, pauseMs } = waiting;
  const startMs = io.now();
  const progress = new Progress(io);
  let before: ShownResult[] = requestKeys.map((key) => without(key, 'pending'));
  for (;;) {
    const now = await lookUnlessStopped(waiting);
    if (!now) return before;
    const { results, seen } = now;
    const isOver = waiting.endsMs !== undefined && io.now() > waiting.endsMs + GRACE_MS;
    const shown = requestKeys.map((key) => {
      const result = results.get(key);
      if (result) return showResult(result);
      return without(key, isOver && !seen.has(key) ? 'expired' : 'pending');
    });
    const passedMs = io.now() - startMs;
    if (!shown.some(({ status }) => status === 'pending') || timeoutMs === 0 || passedMs + pauseMs > timeoutMs)
      return shown;
    before = shown;
    progress.tell(shown.length, seen, waiting.depth);
    await pause(pauseMs, io.stop);
    if (io.stop.aborted) return shown;
  }
}

/** Results, and those that are in a block which may still lack blocks above it. */
interface Look {
  readonly results: ReadonlyMap<string, CommandResult>;
  readonly seen: ReadonlyMap<string, CommandResult>;
}

/** @returns undefined when the person has ended the command meanwhile: what is known of the results must be said then, too */
async function lookUnlessStopped(waiting: Waiting): Promise<Look | undefined> {
  try {
    return await look(waiting);
  } catch (error) {
    if (waiting.io.stop.aborted) return undefined;
    throw error;
  }
}

async function look(waiting: Waiting): Promise<Look> {
  const { nodes, chain, requestKeys, depth, io } = waiting;
  return await nodes.ask(async (api) => {
    const results = await api.poll(chain, requestKeys, depth === 0 ? {} : { confirmationDepth: depth }, io.stop);
    const missing = requestKeys.filter((key) => !results.has(key));
    const seen = depth === 0 ? new Map() : await api.poll(chain, missing, {}, io.stop);
    return { results, seen };
  }, waiting);
}

/** Says what is waited for, whenever that changes. */
class Progress {
  readonly #io: Pick<Io, 'say'>;
  #last = '';

  constructor(io: Pick<Io, 'say'>) {
    this.#io = io;
  }

  tell(all: number, seen: ReadonlyMap<string, CommandResult>, depth: number): void {
    const heights = [...seen.values()].flatMap(({ metaData }) => metaData?.blockHeight ?? []);
    const where = heights.length === 0 ? '' : ` at height ${[...new Set(heights)].join(', ')}`;
    const text =
      seen.size === 0
        ? 'Waiting for a block with the command.'
        : `In a block${where}${all > 1 ? ` (${seen.size} of ${all})` : ''}. Waiting for ${depth} blocks above it.`;
    if (text !== this.#last) this.#io.say(text);
    this.#last = text;
  }
}

/** @param timeoutMs how long was to be waited @param isStopped whether the person has ended that before */
export function stillWaiting(timeoutMs: number, isStopped: boolean): string {
  if (isStopped)
    return 'Stopped waiting: there is no result yet, but it may still come. Ask again, and do not build the command again.';
  return timeoutMs === 0
    ? 'There is no result yet. Ask again, or leave --once out to wait for it.'
    : `There is no result after ${formatDuration(timeoutMs / 1000)}. Ask again, and do not build the command again.`;
}
