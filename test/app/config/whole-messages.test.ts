/** What is said of faulty files, to the last character, and at the limits of what is repeated and compared. */

import { afterAll, expect, it } from 'vitest';
import { parseToml, tomlPositions } from '#pickaxe/app/config/parse.js';
import { ConfigError } from '#pickaxe/app/config/raw-settings.js';
import { Folder } from './folder.ts';

const folder = new Folder();
afterAll(() => folder.remove());

/** @returns the problems of a file, without its name */
const problems = (...lines: string[]) => {
  folder.write('a.toml', lines.join('\n'));
  return folder
    .problems({ file: 'a.toml' })
    .map((line) => line.replaceAll(folder.path, '').replace(/^\/?a\.toml:/, ''));
};

it('values of every wrong kind', () => {
  const values = ['7', 'true', '"x"', '[]', '[1, 2]', '{a = 1}', '1979-05-27', '1.5', '-1', '"http://u:p@h/KEY?q"'];
  const settings = ['node.urls', 'node.network', 'cpu.threads', 'pool.password', 'pool.password-file', 'http.control'];
  const all = settings.flatMap((setting) => values.map((value) => `${setting} = ${value}`));
  const text = all.map((line) => [`$ ${line}`, ...problems(line)].join('\n')).join('\n');
  expect(text).toMatchInlineSnapshot(`
    "$ node.urls = 7
    1:1: node.urls is 7. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = true
    1:1: node.urls is true. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = "x"
    $ node.urls = []
    1:1: node.urls is an empty list. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = [1, 2]
    1:1: node.urls[0] is 1. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    1:1: node.urls[1] is 2. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = {a = 1}
    1:1: node.urls is a table. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = 1979-05-27
    1:1: node.urls is a date. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = 1.5
    1:1: node.urls is 1.5. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = -1
    1:1: node.urls is -1. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.urls = "http://u:p@h/KEY?q"
    1:1: node.urls is "http://***@h/…": it must have no user and password. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.
    $ node.network = 7
    1:1: node.network is 7. A network is written like mainnet01 or testnet04.
    $ node.network = true
    1:1: node.network is true. A network is written like mainnet01 or testnet04.
    $ node.network = "x"
    $ node.network = []
    1:1: node.network is an empty list. A network is written like mainnet01 or testnet04.
    $ node.network = [1, 2]
    1:1: node.network is a list of 2. A network is written like mainnet01 or testnet04.
    $ node.network = {a = 1}
    1:1: node.network is a table. A network is written like mainnet01 or testnet04.
    $ node.network = 1979-05-27
    1:1: node.network is a date. A network is written like mainnet01 or testnet04.
    $ node.network = 1.5
    1:1: node.network is 1.5. A network is written like mainnet01 or testnet04.
    $ node.network = -1
    1:1: node.network is -1. A network is written like mainnet01 or testnet04.
    $ node.network = "http://u:p@h/KEY?q"
    1:1: node.network is "http://***@h/KEY?q". A network is written like mainnet01 or testnet04.
    $ cpu.threads = 7
    $ cpu.threads = true
    1:1: cpu.threads is true. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = "x"
    1:1: cpu.threads is "x". Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = []
    1:1: cpu.threads is an empty list. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = [1, 2]
    1:1: cpu.threads is a list of 2. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = {a = 1}
    1:1: cpu.threads is a table. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = 1979-05-27
    1:1: cpu.threads is a date. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = 1.5
    1:1: cpu.threads is 1.5. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = -1
    1:1: cpu.threads is -1. Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ cpu.threads = "http://u:p@h/KEY?q"
    1:1: cpu.threads is "http://***@h/KEY?q". Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.
    $ pool.password = 7
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = true
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = "x"
    $ pool.password = []
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = [1, 2]
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = {a = 1}
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = 1979-05-27
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = 1.5
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = -1
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password = "http://u:p@h/KEY?q"
    1:1: pool.password is not valid. Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.
    $ pool.password-file = 7
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = true
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = "x"
    $ pool.password-file = []
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = [1, 2]
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = {a = 1}
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = 1979-05-27
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = 1.5
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = -1
    1:1: pool.password-file is not a path. Give the path of a file.
    $ pool.password-file = "http://u:p@h/KEY?q"
    $ http.control = 7
    1:1: http.control is 7. Give true or false.
    $ http.control = true
    $ http.control = "x"
    1:1: http.control is "x". Give true or false.
    $ http.control = []
    1:1: http.control is an empty list. Give true or false.
    $ http.control = [1, 2]
    1:1: http.control is a list of 2. Give true or false.
    $ http.control = {a = 1}
    1:1: http.control is a table. Give true or false.
    $ http.control = 1979-05-27
    1:1: http.control is a date. Give true or false.
    $ http.control = 1.5
    1:1: http.control is 1.5. Give true or false.
    $ http.control = -1
    1:1: http.control is -1. Give true or false.
    $ http.control = "http://u:p@h/KEY?q"
    1:1: http.control is "http://***@h/KEY?q". Give true or false."
  `);
});

it('names that there are not', () => {
  const lines = [
    ['x = 1'],
    ['nod = 1'],
    ['node = 1'],
    ['node = []'],
    ['threads = 4'],
    ['http = "8080"'],
    ['[nodes]', 'urls = []'],
    ['[node]', 'url = "http://h"'],
    ['[node]', 'thread = 1'],
    ['[node]', 'token = "x"'],
    ['[node]', '"a b" = 1'],
    ['[gone]', 'x = 1'],
    ['[node]', `${'x'.repeat(64)} = 1`],
    ['[node]', `${'x'.repeat(65)} = 1`],
    ['[node]', `"${'y '.repeat(40)}" = 1`],
    ['[cpu]', 'THREADS = 1'],
    ['[cpu]', 'kernl = "a"'],
    ['[cpu]', 'krnl = "a"'],
    ['[cpu]', 'kl = "a"'],
    ['[miner]', 'publicKeys = []', 'public_keys = []'],
  ];
  const text = lines.map((each) => [`$ ${each.join(' ; ')}`, ...problems(...each)].join('\n')).join('\n');
  expect(text).toMatchInlineSnapshot(`
    "$ x = 1
    1:1: there is no table x.
    $ nod = 1
    1:1: there is no table nod. Did you mean node?
    $ node = 1
    1:1: node is 1. It must be a table with urls, network, fingerprints, ca-files, insecure-tls.
    $ node = []
    1:1: node is an empty list. It must be a table with urls, network, fingerprints, ca-files, insecure-tls.
    $ threads = 4
    1:1: there is no table threads. Did you mean cpu.threads?
    $ http = "8080"
    1:1: http is "8080". It must be a table with listen, token-file, control.
    $ [nodes] ; urls = []
    1:1: there is no table nodes. Did you mean node?
    $ [node] ; url = "http://h"
    2:1: there is no setting node.url. Did you mean urls?
    $ [node] ; thread = 1
    2:1: there is no setting node.thread. Did you mean cpu.threads?
    $ [node] ; token = "x"
    2:1: there is no setting node.token. Secrets do not belong here: put it into a file that only you can read, and name that file in pool.password-file or nats.credentials-file or stratum.tls-key or http.token-file or webhook.url-file or webhook.token-file.
    $ [node] ; "a b" = 1
    2:1: there is no setting node."a b". The table node has urls, network, fingerprints, ca-files, insecure-tls.
    $ [gone] ; x = 1
    1:1: there is no table gone.
    $ [node] ; xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = 1
    2:1: there is no setting node.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx. The table node has urls, network, fingerprints, ca-files, insecure-tls.
    $ [node] ; xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = 1
    2:1: there is no setting node."xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx". The table node has urls, network, fingerprints, ca-files, insecure-tls.
    $ [node] ; "y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y " = 1
    2:1: there is no setting node."y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y ". The table node has urls, network, fingerprints, ca-files, insecure-tls.
    $ [cpu] ; THREADS = 1
    2:1: there is no setting cpu.THREADS. Did you mean threads?
    $ [cpu] ; kernl = "a"
    2:1: there is no setting cpu.kernl. Did you mean kernel?
    $ [cpu] ; krnl = "a"
    2:1: there is no setting cpu.krnl. The table cpu has threads, cores, priority, affinity, kernel.
    $ [cpu] ; kl = "a"
    2:1: there is no setting cpu.kl. The table cpu has threads, cores, priority, affinity, kernel.
    $ [miner] ; publicKeys = [] ; public_keys = []
    2:1: there is no setting miner.publicKeys. Did you mean public-keys?
    3:1: there is no setting miner.public_keys. Did you mean public-keys?"
  `);
});

it('texts of more than 60 characters are not repeated', () => {
  const said = (length: number) => problems(`cpu.kernel = "${'k'.repeat(length)}"`)[0];
  expect(said(60)).toContain(`"${'k'.repeat(60)}"`);
  expect(said(61)).toContain('a text of 61 characters');
});

it('names of 64 characters are compared with those that there are, and longer ones are not', () => {
  const near = `public-keys${'-'.repeat(53)}`;
  expect(problems('[miner]', `${near} = []`)[0]).toContain('Did you mean public-keys?');
  expect(problems('[miner]', `${near}- = []`)[0]).not.toContain('Did you mean');
});

it('twenty names are compared, and no more', () => {
  const all = problems('[cpu]', ...Array.from({ length: 21 }, (_, i) => `threads${i} = ${i}`));
  expect(all.filter((line) => line.includes('Did you mean threads?'))).toHaveLength(20);
  expect(all).toHaveLength(21);
});

it('a list may be 32 levels deep', () => {
  const faults = (levels: number) => parseToml(`a = ${'['.repeat(levels)}${']'.repeat(levels)}`).faults.length;
  expect([faults(31), faults(32), faults(33), faults(34)]).toEqual([0, 0, 1, 1]);
});

it('after fifty faults, the rest is not read', () => {
  const faults = (count: number) => {
    const { faults, unread, document } = parseToml(`${'a = =\n'.repeat(count)}b = 1`);
    return [faults.length, unread.filter(([first]) => first === undefined).length, document];
  };
  expect([faults(49), faults(50), faults(51)]).toEqual([
    [49, 0, { b: 1 }],
    [50, 1, {}],
    [50, 1, {}],
  ]);
});

it('a setting that is there twice', () => {
  const { faults } = parseToml(['a.b = =', '[t]', 'x = 1', '  x = 2', '[t]', 'y = 1'].join('\n'));
  expect(faults).toMatchInlineSnapshot(`
    [
      {
        "column": 7,
        "line": 1,
        "what": "not valid TOML: invalid value; one = is enough",
      },
      {
        "column": 3,
        "line": 4,
        "what": "the setting t.x is there already, on line 3: make one of both",
      },
      {
        "column": 1,
        "line": 5,
        "what": "the table t is there already, on line 2: make one of both",
      },
    ]
  `);
});

it('a date that is there twice', () => {
  const { faults } = parseToml(['a = =', 'x = 1979-05-27', 'x = 1979-05-28'].join('\n'));
  expect(faults.map(({ what }) => what).at(-1)).toBe('the setting x is there already, on line 2: make one of both');
});

it('one problem is the message, and of several the first twenty are listed', () => {
  const message = (count: number) => new ConfigError(Array.from({ length: count }, (_, i) => `p${i}`)).message;
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `  p${i}`);
  expect(message(1)).toBe('p0');
  expect(message(2)).toBe(['2 errors in the configuration:', ...lines(2)].join('\n'));
  expect(message(20)).toBe(['20 errors in the configuration:', ...lines(20)].join('\n'));
  expect(message(21)).toBe(['21 errors in the configuration:', ...lines(20), '  … and 1 more'].join('\n'));
});

it('positions are those of the keys, of an ancestor, or none', () => {
  const at = tomlPositions(
    ['[a]', '  b = [1,', '2]', '"c\\u0041" = 1', "'d' = 1", '"e\\U00000041" = 2', '[f.g]', 'h.i = 1'].join('\n'),
  );
  const paths = [
    ['a'],
    ['a', 'b'],
    ['a', 'b', 1],
    ['a', 'cA'],
    ['a', 'd'],
    ['a', 'e\\U00000041'],
    ['f', 'g', 'h', 'i'],
    ['f'],
    ['z'],
  ];
  expect(paths.map((path) => at(path))).toMatchInlineSnapshot(`
    [
      {
        "column": 1,
        "line": 1,
      },
      {
        "column": 3,
        "line": 2,
      },
      {
        "column": 3,
        "line": 2,
      },
      {
        "column": 1,
        "line": 4,
      },
      {
        "column": 1,
        "line": 5,
      },
      {
        "column": 1,
        "line": 6,
      },
      {
        "column": 1,
        "line": 8,
      },
      {
        "column": 1,
        "line": 7,
      },
      undefined,
    ]
  `);
});
