import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { UpdateStreams } from '#pickaxe/miner/source/node/update-streams.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';

const NEW_CUT = new TextEncoder().encode('event:New Cut\n\n');

/** A node with a limited number of streams. */
class Node {
  streams = 20;
  /** The answers to the next requests, if there is a free stream. */
  fault: NodeError | undefined;
  /** Chains, in the order in which a stream was asked for. */
  readonly asked: number[] = [];
  /** For each chain, a function that sends a New Cut on its open stream. */
  readonly tell = new Map<number, () => void>();

  async open(chain: number, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.asked.push(chain);
    if (this.fault) throw this.fault;
    if (this.tell.size >= this.streams) throw new NodeError('failed', 'no more.', { status: 503 });
    let next = new Promise<boolean>(() => {});
    const listen = () => {
      next = new Promise((resolve) => {
        this.tell.set(chain, () => resolve(true));
        stop.addEventListener('abort', () => resolve(false), { once: true });
      });
    };
    listen();
    stop.addEventListener('abort', () => this.tell.delete(chain), { once: true });
    return (async function* () {
      while (await next) {
        listen();
        yield NEW_CUT;
      }
    })();
  }

  get chains(): number[] {
    return [...this.tell.keys()].sort((a, b) => a - b);
  }
}

let node: Node;
let updates: UpdateStreams;
let told: string[];
/** Whether the node may be asked for a stream. */
let mayOpen: boolean;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

async function follow(...chains: number[]): Promise<void> {
  for (const chain of chains) {
    updates.follow(chain);
    await pass(0);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  node = new Node();
  told = [];
  mayOpen = true;
  updates = new UpdateStreams({
    url: 'http://127.0.0.1/mining/updates',
    clock: { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() },
    random: () => 1,
    limits: nodeLimits,
    mayOpen: () => mayOpen,
    open: (chain, stop) => node.open(chain, stop),
    onOpen: (chain) => told.push(`open ${chain}`),
    onNewCut: (chain) => told.push(`New Cut ${chain}`),
    onEnd: (chain) => told.push(`end ${chain}`),
    onProblem: (chain, { kind }) => told.push(`${kind} ${chain}`),
  });
});
afterEach(() => {
  updates.close();
  vi.useRealTimers();
});

describe('streams', () => {
  it('are opened for each chain, and each reports its own New Cuts', async () => {
    await follow(3, 4, 3, 4);
    node.tell.get(4)?.();
    await pass(0);
    expect(node.asked).toEqual([3, 4]);
    expect(told).toEqual(['open 3', 'open 4', 'New Cut 4']);
    expect(updates.open).toBe(2);
  });

  it('are limited to twenty', async () => {
    node.streams = 100;
    await follow(...range(25));
    expect(node.chains).toEqual(range(20));
  });

  it('can be replaced, all or some', async () => {
    await follow(3, 4, 5);
    updates.reopen([4, 7]);
    await pass(0);
    expect(node.asked).toEqual([3, 4, 5, 4]);
    updates.reopen();
    await pass(0);
    expect(node.asked).toEqual([3, 4, 5, 4, 3, 4, 5]);
  });

  it('can be closed together, and opened again', async () => {
    await follow(3, 4);
    updates.close();
    await pass(600_000);
    expect(node.chains).toEqual([]);
    expect(node.asked).toEqual([3, 4]);
    await follow(3);
    expect(node.asked).toEqual([3, 4, 3]);
  });

  it('that wait are not open', async () => {
    await follow(3);
    node.fault = new NodeError('unreachable', 'away.');
    await follow(4);
    expect(updates.open).toBe(1);
  });

  it('that wait are tried at once when the node answers again', async () => {
    node.fault = new NodeError('unreachable', 'away.');
    await follow(3, 4);
    await pass(10_000);
    node.fault = undefined;
    updates.hurry();
    await pass(0);
    expect(node.chains).toEqual([3, 4]);
  });
});

describe('a node that gives fewer streams than there are chains', () => {
  it('is asked for no more than it gives, and keeps its streams open, on however many chains it gives work', async () => {
    node.streams = 3;
    await follow(...range(20), ...range(20));
    expect(node.chains).toEqual([0, 1, 2]);
    // The first one that was refused waits for a place.
    expect(told).toEqual(['open 0', 'open 1', 'open 2', 'failed 3']);
    expect(node.asked).toEqual([0, 1, 2, 3]);
    node.streams = 4;
    await pass(nodeLimits.noStreamsPauseMs);
    expect(node.chains).toEqual([0, 1, 2, 3]);
    expect(node.asked).toEqual([0, 1, 2, 3, 3]);
  });

  it('that refuses a single stream is asked for each of the others once, after a while', async () => {
    await follow(0, 1, 2);
    node.fault = new NodeError('failed', 'no more.', { status: 503 });
    await follow(3);
    node.fault = undefined;
    await follow(...range(20));
    expect(node.asked).toEqual([0, 1, 2, 3]);
    await pass(2 * nodeLimits.noStreamsPauseMs + 1);
    await follow(...range(20), ...range(20));
    expect(node.chains).toEqual(range(20));
    expect(node.asked).toHaveLength(21);
  });

  it('gives one for a chain that is mined when another chain was not mined for five minutes', async () => {
    node.streams = 3;
    await follow(0, 1, 2, 3);
    await pass(nodeLimits.expiryMs - 1);
    await follow(1, 2, 3, 7);
    expect(node.chains).toEqual([0, 1, 2]);
    // Streams are opened again at that age, too.
    await pass(100);
    told = [];
    await follow(7);
    expect(node.chains).toEqual([1, 2]);
    expect(told).toEqual(['end 0']);
    // The chain that has waited for longer comes first.
    await pass(2 * nodeLimits.noStreamsPauseMs);
    expect(node.chains).toEqual([1, 2, 3]);
  });

  it('is not asked for streams again and again because chains change: at most one in five minutes makes way for each', async () => {
    node.streams = 3;
    for (let second = 0; second < 3_600; second += 2) {
      await follow((second / 2) % 200);
      await pass(2_000);
    }
    const waiting = 3_600 / (0.75 * (nodeLimits.noStreamsPauseMs / 1_000));
    expect(node.asked.length).toBeLessThan(20 + 3 * (3_600_000 / nodeLimits.expiryMs) + waiting);
  });

  it('that gives none is asked for the stream of one chain only', async () => {
    node.streams = 0;
    await follow(0, 1, 2);
    expect(node.asked).toEqual([0]);
  });

  it('that has not noticed yet that a stream has made way keeps the others', async () => {
    node.streams = 100;
    await follow(...range(20));
    await pass(nodeLimits.expiryMs - 1);
    await follow(20);
    expect(node.chains).toEqual(range(20));
    // Streams are opened again at that age, too.
    await pass(100);
    told = [];
    node.fault = new NodeError('failed', 'no more.', { status: 503 });
    await follow(20);
    expect(told).toEqual(['end 0', 'failed 20']);
    node.fault = undefined;
    await follow(21);
    expect(told.slice(2)).toEqual(['end 1', 'open 21']);
  });

  it('keeps the streams of chains without work as long as there is room for others', async () => {
    node.streams = 100;
    await follow(0);
    await pass(nodeLimits.expiryMs);
    told = [];
    await follow(1);
    expect(told).toEqual(['open 1']);
  });

  it('is asked for more again after a while', async () => {
    node.streams = 3;
    await follow(0, 1, 2, 3);
    node.streams = 20;
    await pass(2 * nodeLimits.noStreamsPauseMs);
    expect(node.chains).toEqual([0, 1, 2, 3]);
    await follow(4);
    expect(node.chains).toHaveLength(4);
    await pass(1);
    await follow(5, 6, 7);
    expect(node.chains).toHaveLength(7);
  });

  it('and gives fewer than before is asked again only for the chain that work came from last', async () => {
    await follow(0, 1, 2, 3);
    node.streams = 0;
    updates.reopen();
    await pass(0);
    expect(node.chains).toEqual([]);
    const { length } = node.asked;
    await pass(nodeLimits.noStreamsPauseMs);
    expect(node.asked.slice(length)).toEqual([3]);
  });

  it('and gives none any more is asked again for the chain that work came from last, whichever came first', async () => {
    await follow(0, 1, 2, 3, 1);
    node.streams = 0;
    updates.reopen();
    await pass(0);
    const { length } = node.asked;
    await pass(nodeLimits.noStreamsPauseMs);
    expect(node.asked.slice(length)).toEqual([1]);
  });

  it('and refuses one of several that are asked for at once still gives the others', async () => {
    await follow(0, 1, 2, 3);
    node.streams = 3;
    updates.reopen();
    await pass(0);
    expect(node.chains).toHaveLength(3);
  });
});

it('streams that may not be asked for yet are opened later, that of the chain that work came from last first', async () => {
  mayOpen = false;
  await follow(3, 4, 5);
  expect(node.asked).toEqual([]);
  mayOpen = true;
  updates.hurry();
  await pass(0);
  expect(node.asked).toEqual([5, 4, 3]);
});

it('a stream that may not be asked for yet is tried again after the longest pause', async () => {
  mayOpen = false;
  await follow(3);
  mayOpen = true;
  await pass(nodeLimits.streamPauses.mostMs - 1);
  expect(node.asked).toEqual([]);
  await pass(1);
  expect(node.asked).toEqual([3]);
});
