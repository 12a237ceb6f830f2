import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { GpuProcess } from '#pickaxe/miner/engine/gpu/gpu-process.js';
import type { OpenMessage, ToParent } from '#pickaxe/miner/engine/gpu/protocol.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { FakeChild, openedWith, tuningOf } from './fake-child.ts';

vi.mock('node:child_process', async (load) => {
  const fake = await import('./fake-child.ts');
  return { ...(await load<object>()), fork: (...all: readonly unknown[]) => fake.FakeChild.fork(...all) };
});

const QUESTION = { type: 'open', softwareGpu: true } as Omit<OpenMessage, 'pulseMs'>;
const job = jobOf(someHeaderHex, nothingSolves);
const strip = { lane: 3, step: 1, page: 9, pages: 1, counter: 0, counters: 512 };
const OPENED = openedWith(1e9);

const MESSAGES = {
  progress: { type: 'progress', what: 'measuring', done: 0.5 },
  'trying a variant': { type: 'trying', variant: 'wgsl 64×16' },
  'trying none': { type: 'trying' },
  pulse: { type: 'pulse' },
  'pulse with readings': { type: 'pulse', telemetry: { powerWatts: 300 } },
  tuned: { type: 'tuned', tuning: tuningOf(2e9), why: 'it is faster' },
  report: { type: 'report', search: 1, searched: strip, beganMs: 0, candidates: [] },
  ended: { type: 'ended', search: 1 },
} as const satisfies Record<string, ToParent>;
type Name = keyof typeof MESSAGES;
const NAMES = Object.keys(MESSAGES) as Name[];

const listener = { progress: vi.fn(), telemetry: vi.fn(), tuned: vi.fn(), lost: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
});
afterEach(() => void vi.useRealTimers());

/** A process with its pretended child. */
function start() {
  const gpu = new GpuProcess({}, listener);
  const child = FakeChild.started.at(-1)!;
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { gpu, child, pass };
}

async function open() {
  const all = start();
  const opening = all.gpu.open(QUESTION);
  all.child.says(OPENED);
  await opening;
  return all;
}

/** How a promise stands: `waits`, a value, or an error's message. */
function stateOf(promise: Promise<unknown>) {
  const state: { is: unknown } = { is: 'waits' };
  promise.then(
    (value) => {
      state.is = value;
    },
    (error) => {
      state.is = error instanceof DeviceError ? error.message : error;
    },
  );
  return state;
}

describe('a child process', () => {
  const forkedWith = (...options: ConstructorParameters<typeof GpuProcess>) => {
    const gpu = new GpuProcess(...options);
    const child = FakeChild.started.at(-1)!;
    const [path, args, how] = child.forked as [string, string[], { env: NodeJS.ProcessEnv; stdio: unknown }];
    return { gpu, path, args, how };
  };

  test('runs the script of the child, and prints nothing to the output of this process', async () => {
    const { gpu, path, args, how } = forkedWith();
    expect(path).toMatch(/child-main\.js$/);
    expect(args).toEqual([]);
    expect(how).toMatchObject({ serialization: 'advanced', execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    await gpu.close();
  });

  test('has the variables of this process, those that are added, and the folder that the Vulkan loader asks for', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', undefined);
    vi.stubEnv('PICKAXE_TEST', 'ours');
    const added = { DRI_PRIME: '1', PICKAXE_OTHER: 'x' };
    const { gpu, how } = forkedWith(added);
    expect(how.env).toMatchObject({ ...added, PICKAXE_TEST: 'ours', XDG_RUNTIME_DIR: tmpdir() });
    vi.stubEnv('XDG_RUNTIME_DIR', '/run/user/1000');
    const other = forkedWith({ PICKAXE_TEST: 'theirs' });
    expect(other.how.env).toMatchObject({ PICKAXE_TEST: 'theirs', XDG_RUNTIME_DIR: '/run/user/1000' });
    vi.unstubAllEnvs();
    await Promise.all([gpu.close(), other.gpu.close()]);
  });

  test('may have another script, and another time in which it must send something', async () => {
    const child = { path: '/a/script.js', args: ['one', 'other'] };
    const { gpu, path, args } = forkedWith({}, { ...listener, child, silenceMs: 2_000 });
    expect([path, args]).toEqual(['/a/script.js', ['one', 'other']]);
    const fake = FakeChild.started.at(-1)!;
    const opening = gpu.open(QUESTION);
    fake.says(OPENED);
    await opening;
    expect(fake.sentOf('open')[0].pulseMs).toBe(500);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(listener.lost).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(String(listener.lost.mock.calls[0][0])).toContain('its process hangs (for 2 s)');
    await gpu.close();
  });

  test('of whose output the end is kept, enough for the reason of a failure', async () => {
    const { gpu, child } = start();
    child.stderr.write('the beginning ');
    for (let i = 0; i < 4; i++) child.stderr.write('ä'.repeat(4_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(gpu.lastWords).toBe('ä'.repeat(16_000));
    child.stderr.write('!');
    await vi.advanceTimersByTimeAsync(0);
    expect(gpu.lastWords).toBe(`${'ä'.repeat(15_999)}!`);
    await gpu.close();
    // It does not keep this process from ending.
    expect([child.stderr.destroyed, child.isReferenced]).toEqual([true, false]);
  });

  test('lists the adapters, or fails after a minute', async () => {
    const { gpu, child, pass } = start();
    const listed: ToParent = { type: 'listed', adapters: [{ model: 'RTX', backend: 'vulkan' }] };
    const list = gpu.list();
    expect(child.sent).toEqual([{ type: 'list' }]);
    child.says(listed);
    expect(await list).toEqual(listed);
    await gpu.close();
    const other = start();
    const state = stateOf(other.gpu.list());
    await pass(59_999);
    expect(state.is).toBe('waits');
    await pass(1);
    expect(state.is).toBe('the GPU was lost: it did not answer within 60 s');
    await other.gpu.close();
  });

  test('that cannot be started is lost, and can be closed at once', async () => {
    const { gpu, child } = start();
    Object.assign(child, { pid: undefined, connected: false, kill: () => {}, disconnect: () => {} });
    const state = stateOf(gpu.open(QUESTION));
    child.emit('error', new Error('spawn EAGAIN'));
    await vi.advanceTimersByTimeAsync(0);
    expect(state.is).toBe('the GPU was lost: its process failed: spawn EAGAIN');
    expect(gpu.pid).toBeUndefined();
    const closed = stateOf(gpu.close());
    await vi.advanceTimersByTimeAsync(0);
    expect(closed.is).toBeUndefined();
  });

  test('that reports an error while it runs is lost, and is closed when it has ended', async () => {
    const { gpu, child, pass } = await open();
    child.hangs = true;
    child.emit('error', new Error('kill EPERM'));
    expect(String(listener.lost.mock.calls[0][0])).toContain('its process failed: kill EPERM');
    const closed = stateOf(gpu.close());
    await pass(4_000);
    expect(closed.is).toBe('waits');
    child.exit(1);
    await pass(1_000);
    expect(closed.is).toBeUndefined();
  });
});

describe('a GPU that opens', () => {
  const PROLONG: readonly Name[] = ['progress', 'trying a variant', 'trying none'];
  const LATE = 'the GPU was lost: it did not answer within 60 s';

  test.each(NAMES.map((name) => [name, PROLONG.includes(name)] as const))(
    'has another minute after the message %s: %s',
    async (name, prolongs) => {
      const { gpu, child, pass } = start();
      const state = stateOf(gpu.open(QUESTION));
      for (let i = 0; i < 3; i++) {
        await pass(59_000);
        child.says(MESSAGES[name]);
      }
      expect(state.is).toBe(prolongs ? 'waits' : LATE);
      await pass(59_999);
      expect(state.is).toBe(prolongs ? 'waits' : LATE);
      await pass(1);
      expect(state.is).toBe(LATE);
      expect(child.signals).toContain('SIGKILL');
      // A GPU that has not opened is not reported as lost: the caller of `open` has the reason.
      expect(listener.lost).not.toHaveBeenCalled();
      await gpu.close();
    },
  );

  test('is open with the answer, and waits for nothing more', async () => {
    const { gpu, child } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.says(MESSAGES.progress, OPENED);
    await vi.advanceTimersByTimeAsync(0);
    expect(state.is).toEqual(OPENED);
    expect(child.sent).toEqual([{ ...QUESTION, pulseMs: 1_000 }]);
    await gpu.close();
  });

  test('is not open if it fails before its answer is read', async () => {
    const { gpu, child, pass } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.says(OPENED, { type: 'failed', fault: 'wrong-hashes', message: 'wrong' });
    await pass(0);
    expect(state.is).toBe('wrong');
    // No silence is watched for any more.
    await pass(1_000_000);
    expect(vi.getTimerCount()).toBe(0);
    await gpu.close();
  });

  test('fails if it ends right after its answer', async () => {
    const { gpu, child } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.says(OPENED);
    child.exit(3);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([state.is, listener.lost.mock.calls.length]).toEqual([OPENED, 1]);
    await gpu.close();
  });

  test('that is missing fails with the warnings and errors in its output, except for one that every device causes', async () => {
    const { gpu, child } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.stderr.write('a word\nWarning: Vulkan says no\nwarning: limits are artificially reduced\nERROR: nor');
    child.says({ type: 'failed', fault: 'missing', message: 'no GPU' });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.is).toBe('no GPU (output: Warning: Vulkan says no ERROR: nor)');
    await gpu.close();
  });

  test.each([
    [`error: ${'x'.repeat(400)}`, ` (output: error: ${'x'.repeat(293)})`],
    ['hello\n', ''],
  ])('that is missing fails with 300 characters of the complaints in its output', async (printed, shown) => {
    const { gpu, child } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.stderr.write(printed);
    child.says({ type: 'failed', fault: 'missing', message: 'no GPU' });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.is).toBe(`no GPU${shown}`);
    await gpu.close();
  });

  test.each(['lost', 'wrong-hashes'] as const)(
    'fails at once with the fault %s, and without its output',
    async (fault) => {
      const { gpu, child } = start();
      child.hangs = true;
      const state = stateOf(gpu.open(QUESTION));
      child.stderr.write('error: no\n');
      child.says({ type: 'failed', fault, message: 'no' });
      await vi.advanceTimersByTimeAsync(0);
      expect(state.is).toBe(fault === 'lost' ? 'the GPU was lost: no' : 'no');
      child.exit(1);
      await gpu.close();
    },
  );

  test.each([
    ['a code', [7, null], 'exit code 7'],
    ['a signal', [null, 'SIGSEGV'], 'SIGSEGV'],
  ] as const)('is lost when its process ends with %s', async (_, [code, signal], shown) => {
    const { gpu, child } = start();
    const state = stateOf(gpu.open(QUESTION));
    child.exit(code, signal, 'Fatal: out of memory\n');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.is).toBe(`the GPU was lost: its process ended with ${shown} (output: Fatal: out of memory)`);
    expect(gpu.lastWords).toBe('Fatal: out of memory\n');
    await gpu.close();
  });
});

describe('an open GPU', () => {
  test.each(NAMES)('lives as long as it sends messages such as %s', async (name) => {
    const { gpu, child, pass } = await open();
    for (let i = 0; i < 10; i++) {
      await pass(9_000);
      child.says(MESSAGES[name]);
    }
    expect(listener.lost).not.toHaveBeenCalled();
    await pass(30_000);
    expect(listener.lost.mock.calls).toEqual([
      [expect.objectContaining({ fault: 'lost', message: 'the GPU was lost: its process hangs (for 20 s)' })],
    ]);
    expect(child.signals).toContain('SIGKILL');
    await gpu.close();
  });

  test.each(NAMES)('passes the message %s on to those that it is for', async (name) => {
    const { gpu, child } = await open();
    child.says(MESSAGES['trying a variant'], MESSAGES[name]);
    const { progress, telemetry, tuned, lost } = listener;
    expect(progress.mock.calls).toEqual(name === 'progress' ? [['measuring', 0.5]] : []);
    expect(telemetry.mock.calls).toEqual(name === 'pulse with readings' ? [[{ powerWatts: 300 }]] : []);
    expect(tuned.mock.calls).toEqual(name === 'tuned' ? [[MESSAGES.tuned]] : []);
    expect(lost).not.toHaveBeenCalled();
    expect(gpu.trying).toBe(name === 'trying none' ? undefined : 'wgsl 64×16');
    await gpu.close();
  });

  test('is lost once, for the first reason', async () => {
    const { gpu, child } = await open();
    child.says(
      { type: 'failed', fault: 'wrong-hashes', message: 'wrong' },
      { type: 'failed', fault: 'lost', message: 'again' },
    );
    child.emit('message', { type: 'nonsense' });
    child.exit(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(listener.lost.mock.calls).toEqual([[expect.objectContaining({ fault: 'wrong-hashes', message: 'wrong' })]]);
    expect(vi.getTimerCount()).toBe(0);
    gpu.begin(1, job);
    await expect(gpu.next(1)).rejects.toThrow('wrong');
    await gpu.close();
    expect(listener.lost).toHaveBeenCalledTimes(1);
  });

  test('that sends a message of no known form is lost', async () => {
    const { gpu, child } = await open();
    child.emit('message', { type: 'nonsense' });
    expect(String(listener.lost.mock.calls[0][0])).toContain('a message that this version does not understand');
    await gpu.close();
  });
});

describe('a search', () => {
  test('has its own messages, in order, until its end', async () => {
    const { gpu, child } = await open();
    for (const search of [1, 2]) gpu.begin(search, job);
    const [first, second] = [stateOf(gpu.next(1)), stateOf(gpu.next(2))];
    const report = { ...MESSAGES.report, search: 2 };
    child.says(report, { type: 'ended', search: 2 }, { ...report, search: 3 });
    await vi.advanceTimersByTimeAsync(0);
    expect([first.is, second.is]).toEqual(['waits', report]);
    expect(await gpu.next(2)).toEqual({ type: 'ended', search: 2 });
    child.says({ type: 'ended', search: 1 });
    await vi.advanceTimersByTimeAsync(0);
    expect(first.is).toEqual({ type: 'ended', search: 1 });
    await gpu.close();
    // Both had ended.
    expect(child.sentOf('stop')).toEqual([]);
  });

  test.each(NAMES.map((name) => [name, name === 'report' || name === 'ended'] as const))(
    'is waited for no longer because of the message %s: %s',
    async (name, prolongs) => {
      const { gpu, child, pass } = await open();
      gpu.begin(7, job);
      const state = stateOf(gpu.next(7));
      for (let i = 0; i < 5; i++) {
        await pass(9_000);
        child.says(MESSAGES[name], MESSAGES.pulse);
      }
      const hung = 'the GPU was lost: it reported nothing: its driver hangs (for 20 s)';
      expect(state.is).toBe(prolongs ? 'waits' : hung);
      child.says({ type: 'ended', search: 7 });
      await gpu.close();
    },
  );

  test('that nothing waits for may be silent, as while mining is paused', async () => {
    const { gpu, child, pass } = await open();
    gpu.begin(7, job);
    child.says({ ...MESSAGES.report, search: 7 });
    await gpu.next(7);
    for (let i = 0; i < 60; i++) {
      await pass(1_000);
      child.says(MESSAGES.pulse);
    }
    expect(listener.lost).not.toHaveBeenCalled();
    const closing = gpu.close();
    child.says({ type: 'ended', search: 7 });
    await closing;
  });
});

describe('closing', () => {
  afterEach(() => expect(vi.getTimerCount()).toBe(0));

  test('stops all searches, and disconnects when each has ended', async () => {
    const { gpu, child, pass } = await open();
    for (const search of [1, 2]) gpu.begin(search, job);
    const state = stateOf(gpu.close());
    expect(child.sentOf('stop').map(({ search }) => search)).toEqual([1, 2]);
    child.says({ type: 'ended', search: 1 }, { ...MESSAGES.report, search: 2 });
    await pass(4_000);
    expect([state.is, child.connected]).toEqual(['waits', true]);
    child.says({ type: 'ended', search: 2 });
    await pass(0);
    expect([state.is, child.connected, child.signals]).toEqual([undefined, false, []]);
    expect(listener.lost).not.toHaveBeenCalled();
  });

  test('kills a process whose searches do not end in time, and is then done', async () => {
    const { gpu, child, pass } = await open();
    gpu.begin(1, job);
    const state = stateOf(gpu.close());
    await pass(4_999);
    expect([state.is, child.signals]).toEqual(['waits', []]);
    await pass(1_001);
    expect([state.is, child.signals[0]]).toEqual([undefined, 'SIGKILL']);
    expect(listener.lost).not.toHaveBeenCalled();
  });

  test('does not wait for a process that survives its end', async () => {
    const { gpu, child, pass } = await open();
    child.hangs = true;
    const state = stateOf(gpu.close());
    await pass(9_999);
    expect([state.is, child.signals]).toEqual(['waits', ['SIGKILL']]);
    await pass(1);
    expect(state.is).toBeUndefined();
  });

  test('a second time does nothing, and messages to an ended process go nowhere', async () => {
    const { gpu, child } = await open();
    await gpu.close();
    await gpu.close();
    gpu.send({ type: 'stop', search: 1 });
    expect(child.sentOf('stop')).toEqual([]);
  });
});
