import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { programFor } from '#pickaxe/cli/run.js';
import { answerTo } from '#pickaxe/cli/usage/foreign-flags.js';
import { explain, refuseMissingValues, withoutGuesses } from '#pickaxe/cli/usage/wrong-lines.js';
import { pretendedIo } from '../pretended-io.ts';

/** @returns the error about a line that cannot be read, or the help that the line prints */
async function printed(line: string): Promise<string> {
  const io = pretendedIo();
  // If a line is read contrary to expectation, it must not mine.
  const program = await programFor({ io, action: () => () => {} }, () => true);
  const words = withoutGuesses(line.split(' '));
  try {
    refuseMissingValues(program, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (fault) {
    if (!(fault instanceof CommanderError)) throw fault;
    return fault.exitCode === 0 ? io.stdout : explain(fault, program, words);
  }
  throw new Error(`${line} was read`);
}

const KEY = 'a1'.repeat(32);

describe('a line that cannot be read', () => {
  it.each([
    ['mine foo', 'pickaxe mine takes no arguments, but got "foo".'],
    ['mine http://h:1', 'got "http://h:1". Did you mean pickaxe mine --node http://h:1?'],
    ['mine stratum+tcp://h:1', 'Did you mean pickaxe mine --pool stratum+tcp://h:1?'],
    [`mine k:${KEY}.rig1`, 'Did you mean pickaxe mine --public-key k:'],
    ['mine rig.toml', 'Did you mean pickaxe mine --config rig.toml?'],
    ['mine gpu0,gpu1', 'Did you mean pickaxe mine --devices gpu0,gpu1?'],
    ['mine mainnet01', 'Did you mean pickaxe mine --network mainnet01?'],
    ['stats 8080', 'pickaxe stats takes no arguments, but got "8080". Did you mean pickaxe stats --http 8080?'],
    ['bench comp a b', 'got "comp" "a" "b". Did you mean pickaxe bench compare?'],
    ['bench compair a b', 'Did you mean pickaxe bench compare?'],
    ['bench compare a b c', 'pickaxe bench compare takes only <a.json> <b.json>, but also got "c".'],
    ['bench cpu', 'Did you mean pickaxe bench --devices cpu?'],
    ['keygen a b', 'pickaxe keygen takes only <file>, but also got "b".'],
    ['benchmark foo', 'pickaxe bench takes no arguments, but got "foo".'],
  ])('has its surplus words named: %s', async (line, message) => {
    expect(await printed(line)).toContain(message);
  });

  it('has a single hyphen taken for a word', async () => {
    expect(await printed('tx - show')).toBe('error: unknown command "-" of pickaxe tx.');
  });

  it.each([
    ['mine -o --network development', '-o has no value: --network, which follows, is an option.'],
    ['mine -t -d cpu', '-t has no value: -d, which follows, is an option.'],
    ['mine --rig-name --wallet=x', '--rig-name has no value: --wallet, which follows, is an option.'],
    ['bench --seed --json', '--seed has no value: --json, which follows, is an option.'],
    ['mine -o', '-o, --url <url> has no value.'],
    ['mine -pool stratum+tcp://h:1', '-pool is written with two hyphens: --pool.'],
    ['mine -threads 4', '-threads is written with two hyphens: --threads.'],
  ])('has the missing value named: %s', async (line, message) => {
    expect(await printed(line)).toBe(`error: ${message}`);
  });

  const PLACE = '-o stratum+tcp://h:1 -u a.b';

  it.each([
    [`mine ${PLACE} -proxy=127.0.0.1:9050`, '-proxy. pickaxe connects directly: it has no setting for a proxy.'],
    [`mine ${PLACE} -pl=200`, '-pl. pickaxe leaves clocks, voltages, power limits and fans alone'],
    [`mine -pl 200 ${PLACE}`, '-pl. pickaxe leaves clocks'],
    [`mine ${PLACE} -device 0`, '-device. Devices are named with -d'],
    [`mine ${PLACE} -power 200`, '-power. pickaxe leaves clocks'],
    [`mine ${PLACE} -powlim=-20`, '-powlim. pickaxe leaves clocks'],
    [`mine ${PLACE} -epool h:1`, '-epool. Give the whole URL'],
    [`mine ${PLACE} -tmax 80`, '-tmax. A GPU is paused at --temp-limit'],
    [`mine ${PLACE} -tstop 80`, '-tstop. A GPU is paused at --temp-limit'],
  ])('has a flag of another miner answered that begins like a short option: %s', async (line, message) => {
    const all = await printed(line);
    expect(all).toContain(`error: pickaxe mine has no ${message}`);
    expect(all).not.toContain('Did you mean');
  });

  it('has flags of other miners with one and with two hyphens answered at once', async () => {
    const lines = (await printed(`mine ${PLACE} -pl 200 --donate-level 1`)).split('\n');
    expect(lines).toEqual([
      expect.stringContaining('pickaxe mine has no -pl. '),
      expect.stringContaining('pickaxe mine has no --donate-level. '),
    ]);
  });

  it('has no other place suggested for a number after an unknown word with one hyphen', async () => {
    expect(await printed(`mine ${PLACE} -purple 200`)).toBe(
      'error: pickaxe mine takes no arguments, but got "200". The word before it was read as -p and its value: long names have two hyphens.',
    );
  });

  it('never has the password repeated that stands behind -p', async () => {
    expect(await printed(`mine ${PLACE} -phushhush foo`)).not.toContain('hushhush');
  });

  it.each([
    'mine --cpu-priority -1 foo',
    'mine --threads=4 foo',
    'mine -t4 foo',
    'mine -px foo',
    'mine -p1 foo',
    'mine -pl200 foo',
    'mine -d0,1 foo',
    'mine -p -pl foo',
    'mine -p -x foo',
    'mine --rig-name mine foo',
  ])('is not said to lack a value that it has: %s', async (line) => {
    expect(await printed(line)).toContain('pickaxe mine takes no arguments, but got "foo".');
  });

  it('has all flags of other miners answered at once, each in words of its own', async () => {
    const lines = (
      await printed('mine -a blake2s --wallet X --worker=r --donate-level 1 -i 20 --api_port 1 --foo')
    ).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^error: pickaxe mine has no --wallet\. .*-u ACCOUNT\.RIG/),
      expect.stringMatching(/^error: pickaxe mine has no --worker\. .*--rig-name/),
      expect.stringMatching(/^error: pickaxe mine has no --donate-level\. .*takes no fee/),
      expect.stringMatching(/^error: pickaxe mine has no -i\. .*--gpu-batch-ms/),
      expect.stringMatching(/^error: pickaxe mine has no --api_port\. .*--http \[HOST:\]PORT/),
      "error: unknown option '--foo'",
    ]);
  });

  it('has only flags before two hyphens answered: what follows them are words', async () => {
    const all = await printed('mine --wallet X -- --worker=r');
    expect(all).toMatch(/^error: pickaxe mine has no --wallet\. .*$/);
  });

  it('is otherwise compared with the flags that there are', async () => {
    expect(await printed('mine --thraeds 4')).toContain('(Did you mean --threads?)');
  });

  it('is asked for its command when it begins with options', async () => {
    expect(await printed('-o stratum+tcp://h:1 -u me -p x')).toBe(
      'error: options come after a command: pickaxe mine -o … -u … -p …',
    );
    expect(await printed('--donate-level 1')).toContain('pickaxe takes no fee');
  });

  it.each([
    ['dig', 'error: unknown command "dig".'],
    ['tx bild', 'error: unknown command "bild" of pickaxe tx. Did you mean pickaxe tx build?'],
    ['tx help build', 'error: unknown command "help" of pickaxe tx. Did you mean pickaxe help tx?'],
    ['help nope', 'error: unknown command "nope".'],
    ['help tx nope', 'error: unknown command "nope" of pickaxe tx.'],
    ['help minr', 'error: unknown command "minr". Did you mean pickaxe mine?'],
    ['http://h:1', 'error: unknown command "http://h:1". Did you mean pickaxe mine --node http://h:1?'],
  ])('has its unknown command named: %s', async (line, message) => {
    expect(await printed(line)).toBe(message);
  });

  it('shows what it repeats on one line', async () => {
    expect(await printed(`mine a\nb\u001b[2J${'c'.repeat(500)}`)).toMatch(/^error: [\x20-\x7e…]{1,120}$/);
  });
});

describe('help', () => {
  it.each([
    ['help tx build', 'Usage: pickaxe tx build'],
    ['help bench compare', 'Usage: pickaxe bench compare'],
    ['help benchmark', 'Usage: pickaxe bench '],
    ['help', 'Usage: pickaxe '],
  ])('of %j is that of the command', async (line, usage) => {
    expect(await printed(line)).toContain(usage);
  });

  it('names none of the words that only stand for others', async () => {
    const all = await printed('help');
    for (const guess of ['benchmark', 'list-devices', 'setup', '--algo', '--pass']) expect(all).not.toContain(guess);
    const mine = await printed('mine --help --all');
    expect(mine).toMatch(/^ {2}-o, --url <url> /m);
    expect(mine).not.toMatch(/--algo|--pass\b(?!w)/);
  });
});

describe('the flags of other miners', () => {
  it.each([
    '-w',
    '--wallet',
    '--worker',
    '--rig-id',
    '--algorithm',
    '--coin',
    '-O',
    '--donate-level',
    '--cpu-max-threads-hint',
    '--no-color',
    '--api-port',
    '--apiport',
    '--api_listen=0.0.0.0:4028',
    '--api-bind-http',
    '-i',
    '--intensity',
    '--gpus',
    '--tstop',
    '--temperature-limit',
    '--retries',
    '-R',
    '-B',
    '--background',
    '--log',
    '-l',
    '--logfile',
    '-q',
    '--print-time',
    '--tls',
    '--no-strict-ssl',
    '--nicehash',
    '--keepalive',
    '--huge-pages',
    '--pl',
    '--power',
    '--powlim',
    '--gpu-plimit',
    '--gpu-plimit0',
    '--gpu-cclock12',
    '--oc_fan_speed',
    '--oc_lock_memory_clock',
    '--coff',
    '--lock-cclock',
    '--fan',
    '--watchdog',
    '--benchmark',
    '--time-limit',
    '--list_devices',
    '--server',
    '--port',
    '--daemon',
    '--proxy',
  ])('%s has an answer, which is a sentence', (flag) => {
    expect(answerTo(flag)).toMatch(/^[A-Zp].{20,}\.$/);
  });

  it('are none of pickaxe’s own', async () => {
    const mine = await printed('mine --help --all');
    const own = [...mine.matchAll(/^ {2}(?:(-\w), )?(--[a-z-]+)/gm)].flatMap(([, ...names]) => names).filter(Boolean);
    expect(own.length).toBeGreaterThan(50);
    expect(own.filter((name) => answerTo(name) !== undefined && name !== '-p')).toEqual([]);
  });

  it('that nobody has are not answered', () => {
    expect(['--foo', '-Z', '--', '', '--constructor'].map(answerTo)).toEqual(Array(5).fill(undefined));
  });
});
