import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { UpdateStream } from '#pickaxe/miner/source/node/update-streams.js';
import { NodeError, type NodeErrorKind } from '#pickaxe/node/http/node-error.js';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';

/** The node's side of a connection. */
class Connection {
  readonly openedAtMs = performance.now();
  #push: (chunk: Uint8Array | undefined) => void = () => {};
  #ended = false;
  readonly #chunks: Uint8Array[] = [];

  send(text: string): void {
    this.#chunks.push(new TextEncoder().encode(text));
    this.#push(undefined);
  }

  end(): void {
    this.#ended = true;
    this.#push(undefined);
  }

  async *body(): AsyncGenerator<Uint8Array> {
    while (true) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else if (this.#ended) return;
      else await new Promise<unknown>((resolve) => (this.#push = resolve));
    }
  }
}

let stream: UpdateStream;
let opened: Connection[];
/** When each request was sent. */
let askedAtMs: number[];
/** What the node does at the next request. By default it opens a stream. */
let answer: () => Promise<AsyncIterable<Uint8Array>>;
let told: string[];
/** Whether the node may be asked for a stream. */
let mayOpen: boolean;

function open(): Promise<AsyncIterable<Uint8Array>> {
  const connection = new Connection();
  opened.push(connection);
  return Promise.resolve(connection.body());
}
const fail = (kind: NodeErrorKind, more = {}) => Promise.reject(new NodeError(kind, `${kind}.`, more));
const failBusy = () => fail('failed', { status: 503 });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** Pauses between requests, in ms. */
const pauses = () => askedAtMs.slice(1).map((ms, i) => Math.round(ms - askedAtMs[i]));

function start(): void {
  stream = new UpdateStream({
    url: 'http://127.0.0.1/mining/updates',
    open: () => {
      askedAtMs.push(performance.now());
      return answer();
    },
    mayOpen: () => mayOpen,
    onOpen: () => told.push('open'),
    onNewCut: () => told.push('New Cut'),
    onEnd: () => told.push('end'),
    onProblem: ({ kind }) => told.push(kind),
    clock: { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() },
    random: () => 1,
    limits: nodeLimits,
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  opened = [];
  askedAtMs = [];
  told = [];
  answer = open;
  mayOpen = true;
});
afterEach(() => {
  stream.close();
  vi.useRealTimers();
});

describe('an open stream', () => {
  it('reports New Cuts, and nothing else', async () => {
    start();
    await pass(0);
    expect(stream.isOpen).toBe(true);
    opened[0].send('event:New Cut\n\nevent:Refreshed Block\n\n: x\n\nevent:New Cut\n\n');
    await pass(0);
    expect(told).toEqual(['open', 'New Cut', 'New Cut']);
  });

  it('that the node ends after minutes is opened again at once', async () => {
    start();
    await pass(nodeLimits.steadyStreamMs);
    opened[0].end();
    await pass(0);
    expect(told).toEqual(['open', 'end', 'open']);
    expect(stream.isOpen).toBe(true);
  });

  it('that ends again and again within seconds is opened after growing pauses', async () => {
    answer = () => {
      const body = open();
      opened.at(-1)?.end();
      return body;
    };
    start();
    await pass(8_000);
    expect(pauses()).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
  });

  it('that is too old is replaced', async () => {
    start();
    await pass(nodeLimits.maxStreamMs - 1);
    expect(opened).toHaveLength(1);
    await pass(2);
    expect(opened).toHaveLength(2);
    expect(told).toEqual(['open', 'end', 'open']);
    // What the old one sends is not read.
    opened[0].send('event:New Cut\n\n');
    await pass(0);
    expect(told).toHaveLength(3);
  });

  it('can be replaced by a new one', async () => {
    start();
    await pass(100);
    stream.reopen();
    await pass(0);
    expect(told).toEqual(['open', 'end', 'open']);
  });

  it.each([100, nodeLimits.steadyStreamMs])(
    'is not opened again for half a minute when it sends no events after %i ms',
    async (ms) => {
      start();
      await pass(ms);
      opened[0].send('x'.repeat(100_000));
      await pass(0);
      expect(told).toEqual(['open', 'end', 'not understood']);
      stream.hurry();
      await pass(nodeLimits.noStreamsPauseMs - 1);
      expect(opened).toHaveLength(1);
      await pass(1);
      expect(opened).toHaveLength(2);
    },
  );
});

test('a stream that sends no events again is not opened for longer, however long it was open before', async () => {
  const garble = async () => {
    await pass(nodeLimits.steadyStreamMs);
    opened.at(-1)!.send('x'.repeat(100_000));
    await pass(0);
  };
  start();
  await garble();
  await pass(nodeLimits.noStreamsPauseMs);
  expect(opened).toHaveLength(2);
  await garble();
  await pass(2 * nodeLimits.noStreamsPauseMs - 1);
  expect(opened).toHaveLength(2);
  await pass(1);
  expect(opened).toHaveLength(3);
});

describe('a stream that cannot be opened', () => {
  it.each<NodeErrorKind>(['unreachable', 'broken', 'timed out', 'failed', 'not a node'])(
    '(%s) is tried after pauses that grow to two seconds',
    async (fault) => {
      answer = () => fail(fault);
      start();
      await pass(8_000);
      expect(pauses()).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
      expect(told).toEqual(Array(7).fill(fault));
      expect(stream.isOpen).toBe(false);
    },
  );

  it.each<[NodeErrorKind, number?]>([['too many requests', 429], ['failed', 503], ['refused'], ['not understood']])(
    '(%s %i) is tried after half a minute, and then each minute',
    async (kind, status) => {
      answer = () => fail(kind, { status });
      start();
      await pass(160_000);
      expect(pauses()).toEqual([30_000, 60_000, 60_000]);
    },
  );

  it('waits as long as the node asks for', async () => {
    answer = () => fail('failed', { retryAfterMs: 7_000 });
    start();
    await pass(7_000);
    expect(pauses()).toEqual([7_000]);
  });

  it('begins with short pauses again after a steady one', async () => {
    answer = () => fail('unreachable');
    start();
    await pass(4_000);
    answer = open;
    await pass(2_000);
    expect(stream.isOpen).toBe(true);
    await pass(nodeLimits.steadyStreamMs);
    answer = () => fail('unreachable');
    askedAtMs = [];
    opened[0].end();
    await pass(800);
    expect(pauses()).toEqual([250, 500]);
  });

  it('begins with half a minute again after a steady one, and reports no old problem', async () => {
    answer = () => failBusy();
    start();
    await pass(0);
    answer = open;
    await pass(nodeLimits.noStreamsPauseMs + nodeLimits.steadyStreamMs);
    opened[0].end();
    await pass(0);
    expect(told).toEqual(['failed', 'open', 'end', 'open']);
    await pass(nodeLimits.steadyStreamMs);
    answer = () => failBusy();
    askedAtMs = [];
    opened[1].end();
    await pass(nodeLimits.noStreamsPauseMs);
    expect(pauses()).toEqual([nodeLimits.noStreamsPauseMs]);
    expect(told.slice(4)).toEqual(['end', 'failed', 'failed']);
  });

  it('is tried at once when the node answers again, unless it has asked for a pause', async () => {
    answer = () => fail('unreachable');
    start();
    await pass(10_000);
    answer = open;
    stream.hurry();
    await pass(0);
    expect(stream.isOpen).toBe(true);
    stream.close();

    answer = () => failBusy();
    start();
    await pass(1);
    answer = open;
    stream.hurry();
    await pass(0);
    expect(stream.isOpen).toBe(false);
  });

  it('is waited for when the node does not answer, which is reported', async () => {
    answer = () => new Promise(() => {});
    start();
    await pass(nodeLimits.streamAnswerMs - 1);
    expect(told).toEqual([]);
    await pass(1);
    expect(told).toEqual(['timed out']);
    stream.hurry();
    await pass(nodeLimits.maxStreamMs - nodeLimits.streamAnswerMs - 1);
    expect(askedAtMs).toHaveLength(1);
    await pass(1 + 250);
    expect(askedAtMs).toHaveLength(2);
  });

  it('is not reported once it is closed', async () => {
    answer = () => new Promise(() => {});
    start();
    await pass(100);
    stream.close();
    await pass(600_000);
    expect(told).toEqual([]);
  });

  it('is not tried again once it is closed', async () => {
    answer = () => fail('unreachable');
    start();
    await pass(100);
    stream.close();
    await pass(600_000);
    expect(askedAtMs).toHaveLength(1);
  });
});

describe('a stream that must not be asked for now', () => {
  const { mostMs } = nodeLimits.streamPauses;

  it('waits, and is opened once it may be', async () => {
    mayOpen = false;
    start();
    await pass(10 * mostMs);
    expect(askedAtMs).toEqual([]);
    expect(stream.isWaiting).toBe(true);
    mayOpen = true;
    await pass(mostMs);
    expect(told).toEqual(['open']);
    expect(stream.isWaiting).toBe(false);
  });

  it('is not open meanwhile, even if it was, and is opened when the node answers again', async () => {
    start();
    await pass(0);
    mayOpen = false;
    stream.reopen();
    await pass(0);
    expect(told).toEqual(['open', 'end']);
    mayOpen = true;
    stream.hurry();
    await pass(0);
    expect(told).toEqual(['open', 'end', 'open']);
  });

  it('is asked for no more once it is closed', async () => {
    mayOpen = false;
    start();
    stream.close();
    mayOpen = true;
    await pass(600_000);
    expect(askedAtMs).toEqual([]);
  });
});
