import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { environmentOf, HOOK_LIMITS, type HookCommands, Hooks } from '#pickaxe/rig/notify/hooks.js';
import type { Notice } from '#pickaxe/rig/notify/notices.js';
import { anyText } from '../../any-text.ts';
import { PATIENCE } from '../../patience.ts';
import { isRunning } from '../../running.ts';
import { listeningLog } from '../pauses/fakes.ts';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-hooks-'));
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newFile = () => join(folder, `out${files++}`);
const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** A notice for tests. Its fields need not match its type. */
const notice = (more: object = {}) =>
  ({ type: 'block', timeMillis: 1_700_000_000_000, rig: 'rig-7', text: 'a block', ...more }) as Notice;

function hooks(commands: HookCommands, limits = {}) {
  const { log, said } = listeningLog();
  return { hooks: new Hooks(commands, log, { ...HOOK_LIMITS, ...limits }), said };
}

/** Kills a process after the test. @param pid the id of a process, or minus the leader's id for a group */
function endsWithTest(pid: number): void {
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
}

test('a hook gets the notice in its environment and as a JSON line on its stdin', async () => {
  const file = newFile();
  const { hooks: made } = hooks({ block: `{ env | grep ^PICKAXE_EVENT | sort; cat; } > ${file}` });
  const told = notice({ device: 'gpu0', height: 42 });
  made.send(told);
  await made.end();
  const lines = read(file).split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'PICKAXE_EVENT=block',
    'PICKAXE_EVENT_DEVICE=gpu0',
    'PICKAXE_EVENT_HEIGHT=42',
    'PICKAXE_EVENT_RIG=rig-7',
    'PICKAXE_EVENT_TEXT=a block',
    'PICKAXE_EVENT_TIME_MILLIS=1700000000000',
  ]);
  expect(JSON.parse(lines[6])).toEqual(told);
});

test('values are never executed', async () => {
  const file = newFile();
  const evil = `$(touch ${folder}/evil) \`touch ${folder}/evil\`; touch ${folder}/evil "'`;
  const { hooks: made } = hooks({ block: `printf %s "$PICKAXE_EVENT_REASON" > ${file}` });
  made.send(notice({ reason: evil }));
  await made.end();
  expect(read(file)).toBe(evil);
  expect(existsSync(join(folder, 'evil'))).toBe(false);
});

test('a list is a program and its arguments, which no shell interprets', async () => {
  const file = newFile();
  const words = ['a b', '$(touch evil)', '*', '', '"'];
  const script = `require('fs').writeFileSync(process.argv[1], JSON.stringify([process.argv.slice(2), process.env.PICKAXE_EVENT_TEXT]))`;
  const { hooks: made } = hooks({ block: [process.execPath, '-e', script, file, ...words] });
  made.send(notice());
  await made.end();
  expect(JSON.parse(read(file))).toEqual([words, 'a block']);
});

test('a list whose program does not exist is a failure like others', async () => {
  const { hooks: made, said } = hooks({ block: ['/nonexistent/program'] });
  made.send(notice());
  await made.end();
  expect(said[0].msg).toBe('block: its command failed (spawn /nonexistent/program ENOENT)');
});

test('each field has a variable of its name', () => {
  expect(environmentOf(notice({ hardwareErrors: 3 }))).toMatchObject({ PICKAXE_EVENT_HARDWARE_ERRORS: '3' });
  expect(environmentOf(notice({ isRelay: true }))).toMatchObject({ PICKAXE_EVENT_IS_RELAY: 'true' });
});

describe('on Windows, where cmd.exe inserts values before it parses a command', () => {
  const given = (reason: string) => environmentOf(notice({ reason }), 'win32').PICKAXE_EVENT_REASON;

  it.each([
    ['x" & calc.exe & "', 'x_ _ calc.exe _ _'],
    ['%PATH:~0,1% ^| more > out < in', '_PATH:_0,1_ __ more _ out _ in'],
    ["$(calc) `calc` 'calc'; !calc!", '__calc_ _calc_ _calc__ _calc_'],
    ['＂fullwidth＂ ʺprime', '_fullwidth_ _prime'],
    ['C:\\path\\', 'C:_path_'],
    ['it did not answer within 30 s: 5.000 GH/s, gpu0', 'it did not answer within 30 s: 5.000 GH/s, gpu0'],
  ])('the text %s has no effect', (reason, harmless) => {
    expect(given(reason)).toBe(harmless);
  });

  it('dangerous characters are replaced', () => {
    fc.assert(
      fc.property(anyText(), (reason) => {
        expect(given(reason)).toMatch(/^[A-Za-z0-9 .,:/_+=@#-]*$/);
      }),
    );
  });

  it('on other systems values are complete', () => {
    expect(environmentOf(notice({ reason: 'a "b" & 5 °C' }), 'linux').PICKAXE_EVENT_REASON).toBe('a "b" & 5 °C');
  });
});

test('only notices with a command run one', async () => {
  const file = newFile();
  const { hooks: made } = hooks({ stop: `echo $PICKAXE_EVENT >> ${file}` });
  made.send(notice());
  made.send(notice({ type: 'stop' }));
  await made.end();
  expect(read(file)).toBe('stop\n');
});

test('a hook that fails is logged once until it works again, with its output', async () => {
  const file = newFile();
  const { hooks: made, said } = hooks({ block: `echo no luck >&2; test -e ${file}` }, { atOnce: 1 });
  const run = async () => {
    const before = said.length;
    made.send(notice());
    await vi.waitFor(() => expect(said.length).toBe(before + 1), PATIENCE);
  };
  await run();
  await run();
  const { writeFileSync } = await import('node:fs');
  writeFileSync(file, '');
  await run();
  rmSync(file);
  await run();
  const failed = 'block: its command failed (exit code 1); its output: "no luck"';
  expect(said.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    `warn ${failed}`,
    `debug ${failed}`,
    'debug block: its command has run; its output: "no luck"',
    `warn ${failed}`,
  ]);
});

test('a hook’s output is logged as one line without control characters', async () => {
  const { hooks: made, said } = hooks({
    block: "printf 'a\\033[31m\\n[12:00:00.000] INFO: forged \\302\\23331m\\n'; exit 1",
  });
  made.send(notice());
  await made.end();
  expect(said[0].msg).toBe(
    'block: its command failed (exit code 1); its output: "a [31m [12:00:00.000] INFO: forged 31m"',
  );
});

test('a command that does not exist is a failure like others', async () => {
  const { hooks: made, said } = hooks({ block: '/nonexistent/command' });
  made.send(notice());
  await made.end();
  expect(said[0].msg).toMatch(/^block: its command failed \(exit code 127\); its output: ".*not found"$/);
});

describe('limits', () => {
  it('a hook that takes too long is killed with all processes that it started', async () => {
    const file = newFile();
    // The command's time limit passes only once it runs, even if a busy machine starts it slowly.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const command = `sleep 1000 & echo $$ $! > ${file}; trap '' TERM; sleep 1000`;
    const { hooks: made, said } = hooks({ block: command }, { timeoutMs: 600_000 });
    made.send(notice());
    await vi.waitFor(() => expect(read(file)).toMatch(/^\d+ \d+\n$/), PATIENCE);
    const [leader, pid] = read(file).split(' ').map(Number);
    endsWithTest(-leader);
    expect([isRunning(-leader), isRunning(pid), said]).toEqual([true, true, []]);
    vi.advanceTimersByTime(600_000);
    vi.useRealTimers();
    await vi.waitFor(() => expect(said).toHaveLength(1), PATIENCE);
    expect(said[0]).toEqual({ level: 'warn', msg: 'block: its command failed (killed: it took more than 600 s)' });
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENCE);
  });

  it('at the end, all hooks together have that time, and none is started after it', async () => {
    const file = newFile();
    const { hooks: made, said } = hooks({ block: `echo x >> ${file}; sleep 1000` }, { timeoutMs: 300, atOnce: 1 });
    for (let i = 0; i < 3; i++) made.send(notice());
    await made.end();
    expect(said.some(({ msg }) => msg.includes('killed'))).toBe(true);
    expect(read(file).length).toBeLessThan(3 * 2);
  });

  it('a flood of notices is dropped, which is logged once', async () => {
    const { hooks: made, said } = hooks({ block: 'sleep 1000' }, { timeoutMs: 1_000, atOnce: 1, waiting: 2 });
    for (let i = 0; i < 10; i++) made.send(notice());
    const dropped = said.filter(({ msg }) => msg.includes('too many commands'));
    expect(dropped.map(({ level }) => level)).toEqual(['warn', ...Array(6).fill('debug')]);
    await made.end();
  });

  it('a hook that writes without end delays nobody, and only the beginning of its output is kept', async () => {
    // Both streams together count, whichever is read first.
    const { hooks: made, said } = hooks({ block: 'echo error >&2; head -c 10000000 /dev/zero | tr "\\0" y; echo end' });
    made.send(notice());
    await made.end();
    expect(said[0].level).toBe('debug');
    const [, output] = /^block: its command has run; its output: "(.*)"$/.exec(said[0].msg)!;
    expect(output).toMatch(/^(error )?y+$/);
    expect(output).toHaveLength(2_000);
  });

  it.skipIf(process.platform !== 'linux' || getPriority() > 10)('a hook gives way to the miner', async () => {
    const block = 'for i in $(seq 1000); do if [ "$(nice)" = 10 ]; then exit 0; fi; sleep 0.01; done; exit 1';
    const { hooks: made, said } = hooks({ block });
    made.send(notice());
    await made.end();
    expect(said[0].msg).toBe('block: its command has run');
  });

  it('a process that a hook leaves behind goes on, and delays nobody', async () => {
    const file = newFile();
    const { hooks: made, said } = hooks({ block: `sleep 1000 & echo $! > ${file}` });
    made.send(notice());
    await made.end();
    const pid = Number(read(file));
    endsWithTest(pid);
    expect(isRunning(pid)).toBe(true);
    expect(said[0].msg).toBe('block: its command has run');
  });

  it('a hook may ignore its stdin', async () => {
    const { hooks: made, said } = hooks({ block: 'exec 0<&-; true' });
    made.send(notice());
    await made.end();
    expect(said[0]).toEqual({ level: 'debug', msg: 'block: its command has run' });
  });
});
