import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NodeError } from '#pickaxe/node/errors.js';
import { nodeLimits } from '#pickaxe/node/limits.js';
import { UpdateStreams } from '#pickaxe/source/node/update-streams.js';

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
    if (this.tell.size >= this.streams) throw new NodeError('busy', 'no more.');
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
  updates = new UpdateStreams({
    url: 'http://127.0.0.1/mining/updates',
    clock: { nowUs: () => 0n, monotonicMs: () => performance.now() },
    random: () => 1,
    limits: nodeLimits,
    open: (chain, stop) => node.open(chain, stop),
    onOpen: (chain) => told.push(`open ${chain}`),
    onNewCut: (chain) => told.push(`New Cut ${chain}`),
    onEnd: (chain) => told.push(`end ${chain}`),
    onProblem: (chain, { fault }) => told.push(`${fault} ${chain}`),
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

  it('can be closed together', async () => {
    await follow(3, 4);
    updates.close();
    await pass(600_000);
    expect(node.chains).toEqual([]);
    expect(node.asked).toEqual([3, 4]);
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
  it('is asked for no more than it gives, for the chains that work came from last', async () => {
    node.streams = 3;
    await follow(0, 1, 2, 0, 3);
    // The last one is refused, and waits for a place.
    expect(node.chains).toEqual([0, 1, 2]);
    expect(told.at(-1)).toBe('busy 3');
    await follow(4);
    // The longest unused have made way.
    expect(node.chains).toEqual([0, 4]);
    expect(told.slice(-3)).toEqual(['end 1', 'end 2', 'open 4']);
    await pass(nodeLimits.noStreamsPauseMs);
    expect(node.chains).toEqual([0, 3, 4]);
    expect(node.asked).toEqual([0, 1, 2, 3, 4, 3]);
  });

  it('is asked for more again after a while', async () => {
    node.streams = 3;
    await follow(0, 1, 2, 3);
    node.streams = 20;
    await pass(2 * nodeLimits.noStreamsPauseMs);
    expect(node.chains).toEqual([0, 1, 2, 3]);
    await follow(4);
    expect(node.chains).toHaveLength(3);
    await pass(1);
    await follow(5, 6, 7);
    expect(node.chains).toHaveLength(6);
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
});
