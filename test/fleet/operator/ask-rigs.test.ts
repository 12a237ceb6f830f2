/** Which rigs an operator's request goes to, in which order, and what the operator is told of each. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { aborted } from '#pickaxe/base/system/abort.js';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import { type Link, LinkError, type LinkFault } from '#pickaxe/fleet/nats/link.js';
import {
  type AskRig,
  asker,
  askRigs,
  matchesPattern,
  selectRigs,
  type Target,
} from '#pickaxe/fleet/operator/ask-rigs.js';
import type { RigSelection } from '#pickaxe/fleet/operator/fleet-answers.js';
import { FakeNats } from '../nats/fake-nats.ts';
import { fleetRig, SUBJECTS } from './messages.ts';

afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;
const PAUSE = { command: 'pause' } as const;
const targets = (count: number) => Array.from({ length: count }, (_, i): Target => ({ name: `rig-${i}` }));

it('asks a hundred rigs at once, without a warning about listeners', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  let asked = 0;
  let resolveAll = () => {};
  const all = new Promise<void>((resolve) => {
    resolveAll = resolve;
  });
  const ask: AskRig = async (rig, _request, stop) => {
    void aborted(stop);
    if (++asked === 100) resolveAll();
    await all;
    return { done: true, message: rig };
  };
  const { done, failed } = await askRigs(targets(100), PAUSE, ask, never);
  expect({ done, failed, calls: warn.mock.calls }).toEqual({ done: 100, failed: 0, calls: [] });
  warn.mockRestore();
});

describe('the rigs of a selection', () => {
  const NOBODY = 'no rig of this name has reported';
  const CLOSED = 'its owner does not let operators control it';
  const rigs = [
    fleetRig('a1', { group: 'hall' }),
    fleetRig('a2', { group: null, silent: true }),
    fleetRig('b1', { group: 'hall', control: false }),
    fleetRig('b2', { group: 'yard' }),
  ];

  it.each<[selection: RigSelection, expected: string[]]>([
    [{ pattern: '*' }, ['a1', 'a2', `b1: ${CLOSED}`, 'b2']],
    [{ pattern: 'a*' }, ['a1', 'a2']],
    [{ group: 'hall' }, ['a1', `b1: ${CLOSED}`]],
    [{ group: 'hall', pattern: 'a?' }, ['a1']],
    [{ group: 'none' }, []],
    [{ names: ['b2', 'zz', 'a1', 'b2'] }, ['b2', `zz: ${NOBODY}`, 'a1']],
    [{ names: ['zz', 'a1'], pattern: 'z*' }, [`zz: ${NOBODY}`]],
    [{ names: ['zz', 'a1', 'b2'], group: 'hall' }, ['a1']],
    [{ names: ['a1', 'b1'], group: 'hall', pattern: 'b*' }, [`b1: ${CLOSED}`]],
  ])('%j are those that meet every condition', (selection, expected) => {
    const selected = selectRigs(rigs, selection);
    expect(selected.map(({ name, refusal }) => (refusal === undefined ? name : `${name}: ${refusal}`))).toEqual(
      expected,
    );
    expect(selected.every(({ name, silent }) => silent === (name === 'zz' ? undefined : name === 'a2'))).toBe(true);
  });
});

it.each([
  ['', '', true],
  ['', '?', false],
  ['a', '', false],
  ['ab', 'a', false],
  ['a', 'ab', false],
  ['abc', 'a?c', true],
  ['ac', 'a?c', false],
  ['aXbXc', 'a*b*c', true],
  ['abcbd', 'a*b?', true],
  ['abab', 'a*b*b*', true],
  ['abab', 'a*ba', false],
  ['a*b', 'a*b', true],
])('the name “%s” matches “%s”: %s', (name, pattern, fits) => {
  expect(matchesPattern(name, pattern)).toBe(fits);
});

describe('a request to one rig', () => {
  const failing = (fault: unknown) => ({ request: () => Promise.reject(fault) }) as unknown as Link;

  it.each<[fault: LinkFault, told: string]>([
    ['disconnected', 'it was not asked: there is no connection to a NATS server'],
    ['no-responders', 'it is not connected, has another name, or an earlier version of pickaxe'],
    [
      'denied',
      'the NATS server does not let this account control rigs: check --rig-name; ' +
        'pickaxe fleet keys writes the configuration of servers anew',
    ],
    ['timeout', 'it did not answer in time, and may have done it'],
  ])('that fails by the fault %s says so to people', async (fault, told) => {
    const ask = asker(failing(new LinkError(fault, 'for programs')), SUBJECTS, 'op');
    await expect(ask('rig', PAUSE, never)).rejects.toThrow(new Error(told));
  });

  it('that was stopped ends with the reason of that', async () => {
    await expect(asker(failing('stopped'), SUBJECTS, 'op')('rig', PAUSE, never)).rejects.toBe('stopped');
  });

  it.each([
    ['its answer', { done: true, message: 'paused' }, { done: true, message: 'paused' }],
    ['that the answer is none', { done: 'yes' }, 'its answer cannot be read'],
  ])('returns %s', async (_, answer, expected) => {
    const nats = new FakeNats();
    const rig = nats.link('rig');
    rig.subscribe(SUBJECTS.control('rig', 'op'), ({ reply }) => rig.publish(reply!, messageBytes(answer)));
    const asking = asker(nats.link('op'), SUBJECTS, 'op')('rig', PAUSE, never);
    expect(await asking.catch(({ message }: Error) => message)).toEqual(expected);
  });

  it('waits for 4 s', async () => {
    vi.useFakeTimers();
    const nats = new FakeNats();
    nats.link('rig').subscribe(SUBJECTS.control('rig', 'op'), () => {});
    let told: string | undefined;
    void asker(nats.link('op'), SUBJECTS, 'op')('rig', PAUSE, never).catch(({ message }) => {
      told = message;
    });
    await vi.advanceTimersByTimeAsync(3_999);
    expect(told).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toContain('did not answer in time');
  });
});

describe('a request to many rigs', () => {
  it('asks those last that are silent, and those not at all that refuse', async () => {
    const asked: string[] = [];
    const ask: AskRig = async (name) => {
      asked.push(name);
      return { done: name !== 'b', message: `${name} says` };
    };
    const all = [
      { name: 's', silent: true },
      { name: 'a', silent: false },
      { name: 'x', refusal: 'no' },
      { name: 'b' },
    ];
    expect(await askRigs(all, PAUSE, ask, never)).toEqual({
      done: 2,
      failed: 2,
      rigs: [
        { name: 's', done: true, message: 's says' },
        { name: 'a', done: true, message: 'a says' },
        { name: 'x', done: false, message: 'no' },
        { name: 'b', done: false, message: 'b says' },
      ],
    });
    expect(asked).toEqual(['a', 'b', 's']);
  });

  it.each([
    ['an error', new Error('it\nburns'), 'it burns'],
    ['something else', 'out of order', 'out of order'],
    ['a long error', new Error('x'.repeat(300)), expect.stringMatching(/^x{199}…$/)],
  ])('tells of %s', async (_, fault, message) => {
    const { rigs } = await askRigs(targets(1), PAUSE, () => Promise.reject(fault), never);
    expect(rigs).toEqual([{ name: 'rig-0', done: false, message }]);
  });

  it('ends after 10 s, and says who has not answered, and who was not asked', async () => {
    vi.useFakeTimers();
    const asked: string[] = [];
    const ask: AskRig = async (name, _, stop) => {
      asked.push(name);
      if (name === 'rig-0') return { done: true, message: 'done' };
      await aborted(stop);
      throw new Error('it was cut off');
    };
    let answer: Awaited<ReturnType<typeof askRigs>> | undefined;
    void askRigs(targets(258), PAUSE, ask, never).then((given) => {
      answer = given;
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect([answer, asked.length]).toEqual([undefined, 257]);
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toMatchObject({ done: 1, failed: 257 });
    const [first, second, last] = [0, 1, 257].map((at) => answer!.rigs[at].message);
    expect([first, second]).toEqual(['done', 'it did not answer within 10 s']);
    expect(last).toBe('it was not asked: the other rigs took too long');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends at once when pickaxe does', async () => {
    const stop = new AbortController();
    const asking = askRigs(targets(1), PAUSE, () => new Promise(() => {}), stop.signal);
    stop.abort();
    expect((await asking).rigs).toEqual([{ name: 'rig-0', done: false, message: 'pickaxe ended before it answered' }]);
  });
});
