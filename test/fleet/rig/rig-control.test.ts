/** Control of a rig by operators: what its owner allows, what remains of its own, and what nobody can make it do. */

import { describe, expect, it, vi } from 'vitest';
import { ControlAnswer, type ControlRequest, messageBytes, readMessage } from '#pickaxe/fleet/messages.js';
import { OperatorLimits, RigControl, type RigControlOptions } from '#pickaxe/fleet/rig/rig-control.js';
import type { Controls } from '#pickaxe/miner/events/events.js';
import type { RigStatus } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock } from '../../rig/status/fakes.ts';
import { FakeNats } from '../nats/fake-nats.ts';
import { delivered, SUBJECTS } from '../operator/messages.ts';

const NEVER = new AbortController().signal;
const REQUEST_MS = 5_000;

function setUp(given: Partial<RigControlOptions> = {}) {
  const nats = new FakeNats();
  const operator = nats.link('op 1', SUBJECTS.operatorInbox('op 1'));
  const link = nats.link('rig');
  const clock = new FakeClock();
  const tally = new Tally(clock, [
    { name: 'cpu', kind: 'cpu' },
    { name: 'gpu0', kind: 'gpu' },
  ]);
  const asked: string[] = [];
  const controls: Controls = {
    pause: (reason, why, name) => {
      asked.push(['pause', reason, why, name].join(' '));
      return name === undefined || name === 'gpu0';
    },
    resume: (reason, name) => {
      asked.push(['resume', reason, name].join(' '));
      return name === undefined || name === 'gpu0';
    },
    stop: () => asked.push('stop'),
  };
  const lines: string[] = [];
  const limits = new OperatorLimits();
  const ownLimits: RigControlOptions['ownLimits'] = (kind) =>
    kind === 'gpu' ? { stopCelsius: 80, resumeCelsius: 75 } : undefined;
  const control = new RigControl({
    link,
    subjects: SUBJECTS,
    rigName: 'rig',
    isAllowed: true,
    controls,
    status: (): RigStatus => tally.status(),
    limits,
    ownLimits,
    prepareRestart: async () => () => asked.push('restart'),
    clock,
    random: () => 0.5,
    info: (line) => lines.push(line),
    warn: (line) => lines.push(`warning: ${line}`),
    ...given,
  });
  const ask = async (request: ControlRequest | object): Promise<ControlAnswer> => {
    const data = await operator.request(SUBJECTS.control('rig', 'op 1'), messageBytes(request), REQUEST_MS, NEVER);
    return readMessage(ControlAnswer, data) ?? expect.fail('no answer of the right form');
  };
  return { nats, operator, link, clock, tally, asked, lines, limits, ownLimits, control, ask };
}

describe('a rig whose owner does not allow control', () => {
  it.each<ControlRequest>([{ command: 'pause' }, { command: 'limits', gpuCelsius: 60 }, { command: 'restart' }])(
    'refuses, and does nothing: %o',
    async (request) => {
      const { ask, asked, limits, ownLimits, lines } = setUp({ isAllowed: false });
      const message = 'the owner of this rig does not allow control: --fleet-control';
      expect(await ask(request)).toEqual({ done: false, message });
      expect(asked).toEqual([]);
      expect(limits.within(ownLimits)('gpu', 'gpu0')).toEqual({ stopCelsius: 80, resumeCelsius: 75 });
      expect(lines).toEqual(['an operator of the fleet, op 1, may not control this rig: --fleet-control allows it']);
    },
  );
});

describe('pause and resume', () => {
  it('pause all devices or one for the operator’s reason alone, and say so in the log', async () => {
    const { ask, asked, lines } = setUp();
    expect(await ask({ command: 'pause' })).toMatchObject({ done: true });
    expect(await ask({ command: 'pause', device: 'gpu0' })).toMatchObject({ done: true });
    expect(await ask({ command: 'resume', device: 'gpu0' })).toEqual({ done: true, message: 'gpu0 is resumed' });
    expect(asked).toEqual([
      'pause fleet by the fleet’s operator op 1 ',
      'pause fleet by the fleet’s operator op 1 gpu0',
      'resume fleet gpu0',
    ]);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toBe('an operator of the fleet, op 1, asked for resume: gpu0 is resumed');
  });

  it('say what else keeps a device paused: the owner’s own pause stays', async () => {
    const { ask, tally } = setUp();
    tally.listen(device('gpu0', 'paused', 'by an HTTP request'));
    tally.listen(device('cpu', 'ready'));
    expect(await ask({ command: 'resume' })).toEqual({
      done: true,
      message: 'the fleet’s pause has ended; still paused: gpu0 (by an HTTP request)',
    });
  });

  it('of one device say what keeps that one paused, and nothing of the others', async () => {
    const { ask, tally } = setUp();
    tally.listen(device('gpu0', 'paused', 'by an HTTP request'));
    tally.listen(device('cpu', 'paused', 'it is too hot'));
    expect(await ask({ command: 'resume', device: 'gpu0' })).toEqual({
      done: true,
      message: 'the fleet’s pause has ended; still paused: gpu0 (by an HTTP request)',
    });
  });

  it('say which devices they concern', async () => {
    const { ask } = setUp();
    const lasts = 'is paused until it is resumed, or the rig restarts';
    expect(await ask({ command: 'pause' })).toEqual({ done: true, message: `every device ${lasts}` });
    expect(await ask({ command: 'pause', device: 'gpu0' })).toEqual({ done: true, message: `gpu0 ${lasts}` });
    expect(await ask({ command: 'resume' })).toEqual({ done: true, message: 'every device is resumed' });
  });

  it('of all devices of a rig that has none are refused', async () => {
    const none = () => false;
    const { ask } = setUp({ controls: { pause: none, resume: none, stop: () => {} } });
    const refusal = { done: false, message: 'this rig has no devices' };
    expect(await ask({ command: 'pause' })).toEqual(refusal);
    expect(await ask({ command: 'resume' })).toEqual(refusal);
  });

  it('refuse a device that the rig does not have', async () => {
    const { ask } = setUp();
    expect(await ask({ command: 'pause', device: 'gpu7' })).toEqual({
      done: false,
      message: 'there is no device gpu7',
    });
    expect(await ask({ command: 'resume', device: 'gpu7' })).toMatchObject({ done: false });
  });
});

describe('temperature limits', () => {
  it('are never above the rig’s own', async () => {
    const { ask, limits, ownLimits } = setUp();
    const now = limits.within(ownLimits);
    expect(await ask({ command: 'limits', gpuCelsius: 70 })).toEqual({
      done: true,
      message: 'the limit of its gpu is 70 °C until the rig restarts',
    });
    expect(now('gpu', 'gpu0')).toEqual({ stopCelsius: 70, resumeCelsius: 65 });
    expect(await ask({ command: 'limits', gpuCelsius: 90 })).toMatchObject({
      done: true,
      message: expect.stringContaining('gpu0 keeps its own of 80 °C'),
    });
    expect(now('gpu', 'gpu0')).toEqual({ stopCelsius: 80, resumeCelsius: 75 });
  });

  it('can be set where the rig has none, and taken back', async () => {
    const { ask, limits, ownLimits } = setUp();
    const now = limits.within(ownLimits);
    expect(now('cpu', 'cpu')).toBeUndefined();
    await ask({ command: 'limits', cpuCelsius: 60 });
    expect(now('cpu', 'cpu')).toEqual({ stopCelsius: 60, resumeCelsius: 50 });
    expect(now('gpu', 'gpu0')).toEqual({ stopCelsius: 80, resumeCelsius: 75 });
    expect(await ask({ command: 'limits', cpuCelsius: null })).toMatchObject({ done: true });
    expect(now('cpu', 'cpu')).toBeUndefined();
  });

  it('follow the rig’s own, which may change', () => {
    const limits = new OperatorLimits();
    let own = 80;
    const now = limits.within(() => ({ stopCelsius: own, resumeCelsius: own - 5 }));
    limits.set('gpu', 70);
    own = 60;
    expect(now('gpu', 'gpu0')).toEqual({ stopCelsius: 60, resumeCelsius: 55 });
  });

  it('can be set for both kinds at once, and each is compared with the limits of its own kind', async () => {
    const { ask } = setUp({ ownLimits: () => ({ stopCelsius: 60, resumeCelsius: 55 }) });
    expect(await ask({ command: 'limits', gpuCelsius: 60, cpuCelsius: 61 })).toEqual({
      done: true,
      message:
        'the limit of its cpu is 61 °C until the rig restarts, cpu keeps its own of 60 °C; ' +
        'the limit of its gpu is 60 °C until the rig restarts',
    });
    expect(await ask({ command: 'limits', gpuCelsius: null })).toEqual({
      done: true,
      message: 'the rig’s own limits of its gpu hold again',
    });
  });

  it('must be given', async () => {
    const { ask } = setUp();
    const message = 'the request has no limit: give one for GPUs or CPUs';
    expect(await ask({ command: 'limits' })).toEqual({ done: false, message });
  });
});

describe('restart', () => {
  it('happens after a random wait, once', async () => {
    const { ask, asked, clock } = setUp();
    clock.advance(60_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      expect(await ask({ command: 'restart' })).toEqual({ done: true, message: 'it restarts in 5.0 s' });
      expect(await ask({ command: 'restart' })).toMatchObject({ done: true, message: 'it is about to restart anyway' });
      vi.advanceTimersByTime(4_999);
      expect(asked).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(asked).toEqual(['restart']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not happen in the first minute', async () => {
    const { ask, clock } = setUp();
    clock.advance(59_000);
    expect(await ask({ command: 'restart' })).toEqual({
      done: false,
      message: 'it started 59 s ago, and restarts at most once a minute',
    });
  });

  it('does not happen when the configuration has become invalid', async () => {
    const prepareRestart = () => Promise.reject(new Error('pickaxe.toml: line 3'));
    const { ask, clock } = setUp({ prepareRestart });
    clock.advance(60_000);
    const refused = { done: false, message: 'it does not restart: pickaxe.toml: line 3' };
    expect(await ask({ command: 'restart' })).toEqual(refused);
    expect(await ask({ command: 'restart' })).toEqual(refused);
  });

  it('does not happen when control ends while the configuration is checked, and the request gets no answer', async () => {
    let isChecked = () => {};
    const prepareRestart = () =>
      new Promise<() => void>((resolve) => {
        isChecked = () => resolve(() => asked.push('restart'));
      });
    const { nats, operator, asked, ask, clock, control } = setUp({ prepareRestart });
    clock.advance(60_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const [data, reply] = [messageBytes({ command: 'restart' }), `${operator.inbox}.1`];
      nats.send(operator, { subject: SUBJECTS.control('rig', 'op 1'), data, reply });
      await delivered();
      // One that is being prepared counts as well as one that waits.
      expect(await ask({ command: 'restart' })).toEqual({ done: true, message: 'it is about to restart anyway' });
      control.close();
      isChecked();
      await delivered();
      vi.advanceTimersByTime(60_000);
      expect(asked).toEqual([]);
      expect(nats.sent.filter(({ by }) => by === 'rig')).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not happen once control has ended', async () => {
    const { ask, asked, clock, control } = setUp();
    clock.advance(60_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await ask({ command: 'restart' });
      control.close();
      vi.advanceTimersByTime(60_000);
      expect(asked).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('what operators and others can do', () => {
  const data = messageBytes({ command: 'pause' });

  it.each([
    ['no inbox', undefined],
    ['the subject of work', SUBJECTS.work('c1')],
    ['another operator’s inbox', 'pickaxe.operator.op%202.1'],
    ['an inbox of a rig of its name', 'pickaxe.inbox.op%201.1'],
    ['an inbox whose name begins like the operator’s', 'pickaxe.operator.op%2012.1'],
    ['an inbox of another prefix', 'other.operator.op%201.1'],
    ['an inbox without a name', 'pickaxe.operator..1'],
    ['its inbox with nothing behind the name', 'pickaxe.operator.op%201'],
    ['its inbox with a dot at the end', 'pickaxe.operator.op%201.'],
    ['a pattern of its inbox', 'pickaxe.operator.op%201.>'],
    ['a pattern of members', 'pickaxe.operator.*.1'],
    ['a subject with a space', 'pickaxe.operator.op%201.1 2'],
    ['a very long subject', `pickaxe.operator.op%201.${'1'.repeat(300)}`],
  ])('asks for an answer at %s: the request is ignored', async (_, reply) => {
    const { nats, operator, asked, lines } = setUp();
    nats.send(operator, { subject: SUBJECTS.control('rig', 'op 1'), data, reply });
    await delivered();
    expect(asked).toEqual([]);
    expect(nats.sent.filter(({ by }) => by === 'rig')).toEqual([]);
    expect(lines).toEqual([
      'warning: a request of the fleet’s operator op 1 is ignored: it wants its answer outside of the operator’s inbox',
    ]);
  });

  it.each(['%zz', 'a%2fb', `${'a'.repeat(65)}`, '%F0%9F'])(
    'sends under %s, which is no operator’s name or not as subjects have it: the request is ignored',
    async (name) => {
      const { nats, operator, asked, lines } = setUp();
      nats.send(operator, { subject: `pickaxe.control.rig.${name}`, data, reply: `pickaxe.operator.${name}.1` });
      await delivered();
      expect(asked).toEqual([]);
      expect(lines).toEqual(['warning: a request of an operator is ignored: its subject names nobody']);
    },
  );

  it('names the operator of the subject, whatever the message claims', async () => {
    const { ask, lines } = setUp();
    await ask({ command: 'pause', operator: 'op 2' });
    await ask({ command: 'pause' });
    expect(lines).toEqual([expect.stringMatching(/^an operator of the fleet, op 1, asked for pause: /)]);
  });

  it('sends what is no request', async () => {
    const { ask, asked } = setUp();
    const unknown = { done: false, message: 'this rig’s version of pickaxe does not know the request' };
    expect(await ask({ command: 'format-disk' })).toEqual(unknown);
    expect(await ask({ command: 'limits', gpuCelsius: 1_000 })).toEqual(unknown);
    expect(asked).toEqual([]);
  });

  it('sends too much: a log line says so, and later ones how many others there were', async () => {
    const { nats, operator, clock, lines } = setUp();
    const send = (count: number, command: string) => {
      const [data, reply] = [messageBytes({ command }), `${operator.inbox}.1`];
      for (let i = 0; i < count; i++) nats.send(operator, { subject: SUBJECTS.control('rig', 'op 1'), data, reply });
      return delivered();
    };
    // No line tells of a request that is none.
    await send(20, 'format-disk');
    expect(lines).toEqual([]);
    await send(1, 'format-disk');
    expect(lines).toEqual(['warning: requests of operators come too fast, and some are not answered']);
    await send(22, 'format-disk');
    expect(lines).toHaveLength(20);
    clock.advance(10_000);
    await send(1, 'pause');
    expect(lines.slice(20)).toEqual([expect.stringMatching(/restarts \(3 lines were left out\)$/)]);
  });

  it('sends a message when control has ended: nothing happens', async () => {
    const { nats, operator, control, asked, lines } = setUp();
    control.close();
    nats.send(operator, { subject: SUBJECTS.control('rig', 'op 1'), data, reply: `${operator.inbox}.1` });
    await delivered();
    expect([asked, lines]).toEqual([[], []]);
  });

  it('floods: few requests are followed and answered, and few lines are logged', async () => {
    const { nats, operator, clock, asked, lines, ask } = setUp();
    const flood = (count: number) => {
      for (let i = 0; i < count; i++) {
        nats.send(operator, { subject: SUBJECTS.control('rig', 'op 1'), data, reply: `${operator.inbox}.${i}` });
      }
    };
    flood(1_000);
    await delivered();
    expect(asked).toHaveLength(20);
    expect(nats.sent.filter(({ by }) => by === 'rig')).toHaveLength(20);
    expect(lines).toHaveLength(20);
    clock.advance(1_000);
    flood(2);
    await delivered();
    expect(asked).toHaveLength(21);
    clock.advance(1_000);
    expect(await ask({ command: 'pause' })).toMatchObject({ done: true });
  });

  it('names itself at great length: answers are at most 500 characters', async () => {
    const status = () => {
      const all = new Tally(new FakeClock(), [{ name: 'gpu0', kind: 'gpu' }]);
      all.listen(device('gpu0', 'paused', 'x'.repeat(900)));
      return all.status();
    };
    const { ask } = setUp({ status });
    expect((await ask({ command: 'resume' })).message).toHaveLength(500);
  });
});
