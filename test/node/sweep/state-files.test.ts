import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type StateFileSystem, StoreFault, SweepStore } from '#pickaxe/node/sweep/state-files.js';
import { plannedTransfer, type Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { MemoryFiles } from '../../simulation/payments/memory-files.ts';
import { ACCOUNT, NEVER, World } from './world.ts';

const SWEEP: Sweep = {
  network: 'development',
  account: ACCOUNT,
  guard: { keys: [ACCOUNT.slice(2)], pred: 'keys-all' },
  receiver: null,
  targetChain: 0,
  gasPrice: 10_000n,
  gasStation: null,
  startedMs: 1,
  transfers: [
    {
      ...plannedTransfer(1, 91_498_992_540_000n, 746),
      earlierStep1: [{ requestKey: 'A'.repeat(43), gasPrice: 10_000n }],
    },
  ],
};

const failed = {
  ...SWEEP,
  transfers: [
    { ...SWEEP.transfers[0], outcome: { state: 'failed', reason: 'x', gasCost: 0n, provenBy: null } as const },
  ],
};

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it('a sweep comes back as it was, from a file for its owner alone', () => {
  const store = new SweepStore(join(folder(), 'new'), 'development', ACCOUNT);
  store.open();
  expect(store.load()).toBeUndefined();
  store.begin(SWEEP);
  expect(store.load()).toEqual(SWEEP);
  if (process.platform !== 'win32') expect(statSync(store.file).mode & 0o777).toBe(0o600);
  store.close();
});

it('a sweep that an earlier version has written, without the earlier steps 1, is read', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  store.begin(SWEEP);
  const json = JSON.parse(readFileSync(store.file, 'utf8'));
  delete json.transfers[0].earlierStep1;
  writeFileSync(store.file, JSON.stringify(json));
  expect(store.load()).toEqual({ ...SWEEP, transfers: [{ ...SWEEP.transfers[0], earlierStep1: [] }] });
});

it('an unfinished sweep is never replaced once a command is signed', async () => {
  const world = await World.make();
  const sweep = await world.begin();
  world.store.begin({ ...sweep, startedMs: 2 });
  expect(readdirSync(dirname(world.store.file))).toHaveLength(1);
  const runner = world.runner(sweep);
  await runner.round(NEVER);
  expect(() => world.store.begin({ ...sweep, startedMs: 3 })).toThrow('--resume');
  expect(world.store.load()).toEqual(runner.sweep);
});

it('a finished sweep is kept', () => {
  const directory = folder();
  const store = new SweepStore(directory, 'development', ACCOUNT);
  store.begin(SWEEP);
  store.save(failed);
  store.begin({ ...SWEEP, startedMs: 2 });
  expect(store.load()?.startedMs).toBe(2);
  expect(readdirSync(directory)).toHaveLength(2);
  const old = readdirSync(directory).find((name) => name.endsWith('.1.json'))!;
  expect(readFileSync(join(directory, old), 'utf8')).toContain('"failed"');
});

it('accounts and networks have files of their own', () => {
  const files = [
    ['development', 'a/../b'],
    ['development', 'a_.._b'],
    ['mainnet01', 'a/../b'],
  ].map(([network, account]) => new SweepStore('/x', network, account).file);
  expect(new Set(files).size).toBe(3);
  for (const file of files) expect(file).toMatch(/^\/x\/[\w-]+\.json$/);
  // Longer names would not fit into some file systems.
  const long = new SweepStore('/x', 'development', 'a'.repeat(256)).file;
  expect(long).toMatch(/^\/x\/sweep-development-a{28}-[0-9a-f]{16}\.json$/);
});

it('two processes do not work on one sweep, and one that is gone does not stop the next', async () => {
  const directory = folder();
  const store = new SweepStore(directory, 'development', ACCOUNT);
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const gone = once(other, 'exit');
  writeFileSync(`${store.file}.lock`, `${other.pid} ${hostname()} 1\n`);
  expect(() => store.open()).toThrow(`Process ${other.pid} works on this sweep`);
  other.kill('SIGKILL');
  await gone;
  store.open();
  expect(readFileSync(`${store.file}.lock`, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
  store.close();
  expect(readdirSync(directory)).toEqual([]);
});

it('a lock of another machine is left to a person', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  writeFileSync(`${store.file}.lock`, `${process.pid} another-machine 1\n`);
  expect(() => store.open()).toThrow(/Process \d+ on another-machine works on this sweep.* remove .*\.lock/);
});

it('a process that was refused leaves the lock to the one that has it', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  const lock = `${store.file}.lock`;
  writeFileSync(lock, `${process.pid} another-machine 1\n`);
  expect(() => store.open()).toThrow('another-machine');
  store.close();
  expect(readFileSync(lock, 'utf8')).toContain('another-machine');
});

it.skipIf(process.platform === 'win32')('no link is followed that somebody has put where the state is written', () => {
  const directory = folder();
  const store = new SweepStore(directory, 'development', ACCOUNT);
  const victim = join(directory, 'victim');
  writeFileSync(victim, 'precious');
  symlinkSync(victim, `${store.file}.unfinished`);
  store.save(SWEEP);
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(lstatSync(store.file).isFile()).toBe(true);
  expect(store.load()).toEqual(SWEEP);
});

it('what earlier versions have written is read, too', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  store.save(failed);
  const old = JSON.parse(readFileSync(store.file, 'utf8'));
  delete old.transfers[0].outcome.gasCost;
  old.transfers[0].madeAt = null;
  delete old.transfers[0].outcome.provenBy;
  delete old.transfers[0].signedMs;
  delete old.receiver;
  writeFileSync(store.file, JSON.stringify(old));
  expect(store.load()).toEqual(failed);
});

it('the file of another network or account is refused', () => {
  const directory = folder();
  const [one, two] = ['development', 'mainnet01'].map((network) => new SweepStore(directory, network, ACCOUNT));
  const other = new SweepStore(directory, 'development', 'other');
  one.begin(SWEEP);
  for (const store of [two, other]) {
    copyFileSync(one.file, store.file);
    expect(() => store.load()).toThrow(StoreFault);
    expect(() => store.load()).toThrow('on "development": move it away');
  }
});

it('what a crash has left of an earlier save does not pile up', () => {
  const directory = folder();
  const store = new SweepStore(directory, 'development', ACCOUNT);
  for (let i = 0; i < 3; i++) {
    store.save(SWEEP);
    writeFileSync(`${store.file}.unfinished`, 'torn');
  }
  store.save(SWEEP);
  expect(readdirSync(directory)).toHaveLength(1);
});

it('a file that has a chain twice is refused', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  store.save({ ...SWEEP, transfers: [SWEEP.transfers[0], SWEEP.transfers[0]] });
  expect(() => store.load()).toThrow('transfers: has a chain twice');
});

it('a file that was changed is refused', async () => {
  const world = await World.make();
  const runner = world.runner(await world.begin());
  await runner.round(NEVER);
  const { file } = world.store;
  const text = readFileSync(file, 'utf8');
  const faults: readonly [string, string][] = [
    [text.slice(0, -5), 'it is not JSON'],
    [text.replace('"format": 1', '"format": 2'), 'format'],
    [text.replace('91.49', '1.49').replace(/(cmd.*)91\.49/, '$11.49'), 'transfers.0.step0: was changed'],
    [text.replace(/"amount": "[^"]*"/, '"amount": "many"'), 'transfers.0.amount: must be a decimal'],
    [text.replace('"chain": 1', '"chain": 3'), 'transfers.0.step0: is for another chain'],
  ];
  for (const [changed, says] of faults) {
    writeFileSync(file, changed);
    expect(() => world.store.load()).toThrow(StoreFault);
    expect(() => world.store.load()).toThrow(says);
  }
});

it('a file that is no state is refused, with its first characters', () => {
  const store = new SweepStore(folder(), 'development', ACCOUNT);
  for (const [text, begin] of [
    ['', ''],
    ['no state', 'no state'],
    ['x'.repeat(21), 'x'.repeat(20)],
  ]) {
    writeFileSync(store.file, text);
    const damaged = `${store.file} is damaged, or of another version of pickaxe: it is not JSON: it begins with "${begin}"`;
    expect(() => store.load()).toThrow(new StoreFault(damaged));
  }
});

it.skipIf(process.platform === 'win32')('what a killed process has renamed is on the disk for the next one', () => {
  const files = new MemoryFiles();
  const fs = files.system(() => () => {});
  const storeWith = (system: StateFileSystem) => new SweepStore('/state', 'development', ACCOUNT, 'sweep', system);
  let isSynchronised = false;
  const killedSoon: StateFileSystem = {
    ...fs,
    fsyncSync: (fd) => {
      // The first call is for the file, the second one for the folder.
      if (isSynchronised) throw new Error('killed');
      isSynchronised = true;
      fs.fsyncSync(fd);
    },
  };
  expect(() => storeWith(killedSoon).save(SWEEP)).toThrow('killed');
  const next = storeWith(fs);
  next.open();
  expect(next.load()).toEqual(SWEEP);
  // The machine loses power, and with it all names that are not on its disk.
  files.losePower(() => 0);
  expect(storeWith(fs).load()).toEqual(SWEEP);
});
