/** When a node counts as one that answers or as healthy, and what its source leaves behind. The time is the test's. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { miner } from './node.ts';
import { type Answer, broken, gives, refused, Stage } from './node-stage.ts';
import { mined, NEW_CUT } from './node-states.ts';

async function mining(): Promise<Stage> {
  const stage = new Stage('chainweb');
  onTestFinished(() => stage.end());
  await mined(stage);
  return stage;
}

const { signal } = new AbortController();

describe('a node that has said nothing for a second', () => {
  it.each<[string, Answer, boolean]>([
    ['answers', { status: 200 }, true],
    ['refuses to answer', { status: 403 }, true],
    ['has a fault', { status: 500 }, true],
    ['closes the connection', broken(), true],
    ['has gone', refused(), false],
  ])('and %s when it is asked counts accordingly', async (_, answer, isThere) => {
    const stage = await mining();
    const { length } = stage.seen;
    const answers = stage.source.answers(signal);
    await stage.pass(0);
    expect(stage.seen.slice(length).map(({ what }) => what)).toEqual(['asks for health-check']);
    stage.answer('health-check', answer);
    expect(await answers).toBe(isThere);
  });

  it('and says nothing when it is asked does not answer, except if nobody wants to know any more', async () => {
    const stage = await mining();
    const answers = stage.source.answers(signal);
    await stage.pass(1_000);
    expect(await answers).toBe(false);
    const stopping = new AbortController();
    const stopped = stage.source.answers(stopping.signal);
    await stage.pass(0);
    stopping.abort();
    expect(await stopped).toBe(true);
  });
});

it('a node that has sent a New Cut or an answer in the last second is not asked', async () => {
  const stage = await mining();
  const asksAfter = async (ms: number) => {
    await stage.pass(ms);
    const { length } = stage.seen;
    const answers = stage.source.answers(signal);
    await stage.pass(0);
    const isAsked = stage.seen.length > length;
    if (isAsked) stage.answer('health-check', refused());
    expect(await answers).toBe(!isAsked);
    return isAsked;
  };
  stage.send(3, NEW_CUT);
  await stage.pass(0);
  expect([await asksAfter(999), await asksAfter(1)]).toEqual([false, true]);
  await stage.give('B');
  expect([await asksAfter(999), await asksAfter(1)]).toEqual([false, true]);
});

describe('a node that refuses solutions', () => {
  const REJECTED: Answer = { status: 400, body: 'no good' };
  const UNKNOWN: Answer = { status: 404, body: 'no such work' };
  const QUESTION = '; is there a load balancer in front of it?';

  /** Submits solutions of the work that is mined, and answers them. */
  async function answered(stage: Stage, ...answers: readonly Answer[]): Promise<void> {
    for (const answer of answers) {
      stage.submit('A');
      await stage.pass(0);
      stage.answer('solved', answer);
      await stage.pass(0);
      if (stage.isAsked('work')) await stage.give('A');
    }
  }

  it.each<[Answer[], string | undefined]>([
    [[REJECTED, REJECTED], undefined],
    [[REJECTED, REJECTED, REJECTED], 'no good'],
    [[REJECTED, REJECTED, UNKNOWN, UNKNOWN], undefined],
    [[REJECTED, REJECTED, UNKNOWN, UNKNOWN, UNKNOWN], 'no such work'],
    [Array<Answer>(7).fill(UNKNOWN), undefined],
    [Array<Answer>(8).fill(UNKNOWN), 'no such work'],
    [[REJECTED, REJECTED, { status: 200 }, REJECTED], undefined],
  ])('(%j) is unhealthy: %s', async (answers, text) => {
    const stage = await mining();
    const { length } = stage.reasons;
    await answered(stage, ...answers);
    const ALONE = 'It is mined on all the same: there is no other node';
    expect(stage.reasons.slice(length)).toEqual(
      text === undefined ? [] : [`refuses all solutions of its own work (“${text}”${QUESTION}). ${ALONE}`],
    );
  });

  it('is judged where somebody can change to another one, and by no New Cut that has ended its works', async () => {
    const stage = await mining();
    const judged: (string | undefined)[] = [];
    stage.source.onHealth((fault) => judged.push(fault));
    const { length } = stage.reasons;
    for (let i = 0; i < 8; i++) {
      stage.submit('A');
      await stage.pass(0);
      stage.send(3, NEW_CUT);
      await stage.pass(0);
      stage.answer('solved', UNKNOWN);
      await stage.pass(0);
      if (stage.isAsked('work')) await stage.give('A');
    }
    expect(judged).toEqual([]);
    await answered(stage, REJECTED, REJECTED, REJECTED, { status: 200 });
    expect(judged).toEqual([`refuses all solutions of its own work (“no good”${QUESTION})`, undefined]);
    expect(stage.reasons).toHaveLength(length);
  });
});

it('after a suspension the connections are new, work and streams are asked for at once, and it is said', async () => {
  const stage = await mining();
  const { transports, reasons } = stage;
  const { length } = reasons;
  stage.sleep(61_400);
  const { length: seen } = stage.seen;
  await stage.pass(600);
  expect(reasons.slice(length)).toEqual(['this machine or process was suspended for 61 s: fetching new work']);
  expect(stage.transports).toBe(transports + 2);
  expect(new Set(stage.seen.slice(seen).map(({ what }) => what))).toEqual(
    new Set(['says info', 'asks', 'asks for stream 3']),
  );
});

describe('what a node says of its configuration', () => {
  const CONFIG = { chainwebVersion: 'development', mining: { coordination: { enabled: true, miners: [] } } };
  it.each([
    ['is told', CONFIG, ['says info']],
    ['of another network is a warning', { ...CONFIG, chainwebVersion: 'mainnet01' }, ['says warning']],
    [
      'without this miner is not told, because the node refuses to give it work anyway',
      { ...CONFIG, mining: { coordination: { enabled: true, miners: [{ account: 'k:other' }] } } },
      [],
    ],
  ])('%s', async (_, config, said) => {
    const stage = new Stage('chainweb');
    onTestFinished(() => stage.end());
    await stage.pass(0);
    stage.answer('config', { status: 200, body: JSON.stringify(config) });
    await stage.pass(0);
    expect(stage.seen.map(({ what }) => what).filter((what) => what.startsWith('says'))).toEqual(said);
  });
});

it('a node is lost once however the reasons change, and its streams are tried again when it is back', async () => {
  const stage = await mining();
  await stage.until('work');
  const seen = await stage.after(
    async () => {
      for (const answer of [{ status: 503 }, refused(), refused()]) {
        stage.answer('work', answer);
        await stage.until('work');
      }
      stage.answer('work', gives('A'));
      await stage.pass(0);
    },
    { until: 'work A', hasPlace: (what) => /^(lost|says|work)/.test(what) },
  );
  expect(seen.replaceAll(/[\d.]+ s: /g, '')).toBe('says lost, lost, says lost, says connected, work A');
});

it('a source that has ended leaves no timer', async () => {
  const stage = await mining();
  const before = vi.getTimerCount();
  expect(before).toBeGreaterThan(0);
  stage.stop();
  await stage.pass(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('a node has the name that it was given, or that of its address', () => {
  const options = { url: 'http://node.example:1848', network: 'development', miner };
  expect(new NodeSource({ ...options, name: 'my node' }).name).toBe('my node');
  expect(new NodeSource(options).name).toBe('http://node.example:1848');
});
