import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseToml } from '#pickaxe/app/config/parse.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const faultsOf = (file: string, text: string) => {
  folder.write(file, text);
  return folder.problems({ file, contradictions: 'mine' });
};

describe('all faults of a file are told at once, each with its line and column', () => {
  it('in TOML', () => {
    const problems = faultsOf(
      'rig.toml',
      [
        '[node]', // 1
        'urls = http://127.0.0.1:1848', // 2: no quotes
        'network = "mainet01"', // 3: misspelt
        '[miner]', // 4
        'public-key = "aa"', // 5: the name
        '[devices]', // 6
        'temp-limit = 70', // 7
        '  temp-resume = 75', // 8: contradicts
        '[cpu]', // 9
        'threads = "many"', // 10: the type
        '[http]', // 11
        'control = true', // 12: contradicts
        '[log', // 13: no bracket
        'level = "loud"', // 14
        '[cpu]', // 15: a second time
        'priority = 5', // 16
        'threads = 2', // 17: a second time
        '[hooks]', // 18
        "start = ['say', hello", // 19: no quotes, no bracket
        'stop = "say bye"', // 20
        '[stratum]', // 21
        'ledger = "shares"', // 22: contradicts
      ].join('\n'),
    );
    expect(problems).toEqual([
      'rig.toml:2:8: not valid TOML: invalid value; a text needs quotes, like "mainnet01".',
      'rig.toml:5:1: there is no setting miner.public-key. Did you mean public-keys?',
      'rig.toml:10:1: cpu.threads is "many". Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.',
      'rig.toml:13:5: not valid TOML: illegal character in key; a ] is missing.',
      expect.stringMatching(/^rig\.toml:14:1: log\.level is "loud"/),
      'rig.toml:15:1: the table cpu is there already, on line 9: make one of both.',
      'rig.toml:17:1: the setting cpu.threads is there already, on line 10: make one of both.',
      expect.stringMatching(/^rig\.toml:19:\d+: not valid TOML: .*; a text needs quotes/),
      'rig.toml:3:1: The network mainet01 is not known. Did you mean mainnet01? ' +
        'If not, write it into the node URL: --node http://HOST:1848/ledger/0.0/mainet01.',
      'rig.toml:8:3: --temp-resume (75) must be below --temp-limit (70).',
      'rig.toml:12:1: --http-token-file and --http-control need --http [HOST:]PORT.',
      'rig.toml:22:1: --stratum-ledger needs --stratum-listen [HOST:]PORT.',
    ]);
  });
});

describe('a contradiction', () => {
  it('between settings of several places has that of the first that is from a file or a variable', () => {
    folder.write(
      'rig.toml',
      `[node]\nurls = ["http://a"]\nnetwork = "mainet01"\n[miner]\npublic-keys = ["${'a'.repeat(64)}"]`,
    );
    const environment = { PICKAXE_HTTP_CONTROL: 'true' };
    const flags = new Map([
      ['devices.temp-limit', '70'],
      ['devices.temp-resume', '75'],
    ]);
    expect(folder.problems({ file: 'rig.toml', contradictions: 'mine', environment, flags })).toEqual([
      'rig.toml:3:1: The network mainet01 is not known. Did you mean mainnet01? ' +
        'If not, write it into the node URL: --node http://a/ledger/0.0/mainet01.',
      '--temp-resume (75) must be below --temp-limit (70).',
      'PICKAXE_HTTP_CONTROL: --http-token-file and --http-control need --http [HOST:]PORT.',
    ]);
    expect(folder.problems({ file: 'rig.toml', environment, flags })).toEqual([]);
  });

  it('is not claimed where what would resolve it is faulty, misspelt or cannot be read', () => {
    const http = '[http]\ncontrol = true\n';
    const one = [expect.not.stringContaining('need --http')];
    expect(faultsOf('a.toml', `${http}listen = "nowhere at all"`)).toEqual(one);
    expect(faultsOf('a.toml', `${http}listn = "8080"`)).toEqual(one);
    expect(faultsOf('a.toml', `${http}listen = 8080x`)).toEqual(one);
    folder.write('a.toml', http);
    folder.write('.config/pickaxe/config.toml', Buffer.from([0xff]));
    expect(folder.problems({ file: 'a.toml', contradictions: 'mine' })).toEqual(one);
  });

  it('is claimed for what a stronger place says, whatever is wrong below it', () => {
    const flags = new Map([
      ['devices.temp-limit', '70'],
      ['devices.temp-resume', '75'],
    ]);
    folder.write('a.toml', '[devices]\ntemp-resume = "warm"');
    expect(folder.problems({ file: 'a.toml', flags, contradictions: 'rig' })).toEqual([
      expect.stringContaining('a.toml:2:1: devices.temp-resume is "warm"'),
      '--temp-resume (75) must be below --temp-limit (70).',
    ]);
  });
});

describe('TOML that is read around its faults', () => {
  it('keeps all else, with lists and texts of several lines', () => {
    const { document, faults } = parseToml(
      '[a]\r\nx = [ # one\r\n  1,\r\n  2,\r\n]\r\ny = oops\r\n[b.c]\r\nz = """\r\ntext\r\n"""\r\nd.e = 1\r\nd.f = 2\r\n',
    );
    expect(document).toEqual({ a: { x: [1, 2] }, b: { c: { z: 'text\r\n', d: { e: 1, f: 2 } } } });
    expect(faults.map(({ line, column }) => [line, column])).toEqual([[6, 5]]);
  });

  it('takes no setting for another one after a header that cannot be read', () => {
    const { document, unread } = parseToml('[node]\nnetwork = "a"\n[cpu\nthreads = 2\n[log]\nlevel = "info"\n');
    expect(document).toEqual({ node: { network: 'a' }, cpu: { threads: 2 }, log: { level: 'info' } });
    expect(unread).toEqual([['cpu']]);
  });
});

describe('a value that cannot be read', () => {
  const NOT_VALID = /not valid TOML/;
  it.each([
    ['has a name that is known', '[node]\nurls = http://a\n', [NOT_VALID]],
    [
      'has a name that is almost one',
      '[node]\nurl = http://a\n',
      [/:2:1: there is no setting node\.url\. Did you mean urls\?/, NOT_VALID],
    ],
    ['has a name that is none', '[node]\nxyzzy = http://a\n', [/:2:1: there is no setting node\.xyzzy\./, NOT_VALID]],
    ['is in a table that is none', '[xyzzy]\nurl = http://a\n', [NOT_VALID]],
    ['is in no table', 'urls = http://a\n', [NOT_VALID]],
  ])('and %s is told once', (_, text, expected) => {
    const problems = faultsOf('rig.toml', text);
    const told = problems.filter((problem) => NOT_VALID.test(problem) || /there is no setting/.test(problem));
    expect(told.sort()).toEqual(expected.map((each) => expect.stringMatching(each)));
  });
});
