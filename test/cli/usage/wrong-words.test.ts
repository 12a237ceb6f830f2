/** The whole messages about lines that cannot be read, where they are at a limit or at the edge of a rule. */

import { CommanderError } from 'commander';
import { expect, it } from 'vitest';
import { programFor } from '#pickaxe/cli/run.js';
import { explain, refuseMissingValues, withoutGuesses } from '#pickaxe/cli/usage/wrong-lines.js';
import { pretendedIo } from '../pretended-io.ts';

/** @returns the message about the line; an empty text if the line can be read */
async function said(line: string): Promise<string> {
  const program = await programFor({ io: pretendedIo(), action: () => () => {} }, () => true);
  const words = withoutGuesses(line === '' ? [] : line.split(' '));
  try {
    refuseMissingValues(program, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (fault) {
    if (!(fault instanceof CommanderError)) throw fault;
    return fault.exitCode === 0 ? 'help' : explain(fault, program, words);
  }
  return '';
}

const KEY = 'a1'.repeat(32);
const LINES = [
  'mine --rig-name -h --donate-level 1',
  'mine --rig-name --help --donate-level 1',
  'mine --foo',
  `mine --${'f'.repeat(70)} --donate-level 1`,
  `mine ${'w'.repeat(58)}`,
  `mine ${'w'.repeat(59)}`,
  'mine one two',
  'mine h.example:1848',
  'mine HTTPS://h',
  KEY,
  `mine k:${KEY.toUpperCase()}`,
  `mine ${KEY}x`,
  'mine RIG.TOML',
  'mine all',
  'mine none,cpu',
  'mine gpu',
  'mine cpus',
  'mine development',
  'mine testnet04',
  'mine testnet4',
  'mine 80',
  'mine 8',
  'mine 123456',
  'mine host:8080',
  'mine 50%',
  'bench 30s',
  'bench 30w',
  'keygen a 8080',
  'tx bu',
  'tx bui',
  'tx s',
  'tx sen',
  'bench compare a',
  'bench comp',
  'bench co',
  'dev',
  'de',
  'gpu0',
  '--threads 4 --foo',
  '-o http://h:1 mine',
  'mine -o',
  'mine -o --',
  'mine -o -1',
  'mine -t -tt',
  'mine -t -p',
  'mine -- -pl foo',
  'mine -- foo --donate-level',
  'mine -proxy',
  'mine --url=http://h:1 -u',
  'mine --donate-level=1 --donate-level=2',
  'mine -network development',
  'mine -network=development',
  'help',
  'help start',
  'help mine more',
  'start --foo',
  '-V extra',
  'version',
  'setup one',
];

it('each line has its message', async () => {
  const all: string[] = [];
  for (const line of LINES) all.push(`$ ${line}\n${await said(line)}`);
  expect(all.join('\n').replaceAll(KEY, 'KEY')).toMatchInlineSnapshot(`
    "$ mine --rig-name -h --donate-level 1
    error: pickaxe mine has no --donate-level. Leave it out: pickaxe takes no fee.
    $ mine --rig-name --help --donate-level 1
    error: pickaxe mine has no --donate-level. Leave it out: pickaxe takes no fee.
    $ mine --foo
    error: unknown option '--foo'
    (Did you mean --pool?)
    $ mine --ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff --donate-level 1
    error: pickaxe mine has no --donate-level. Leave it out: pickaxe takes no fee.
    error: unknown option '--fffffffffffffffffffffffffffffffffffffffffffffffffffffffff…'
    $ mine wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
    error: pickaxe mine takes no arguments, but got "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww".
    $ mine wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww
    error: pickaxe mine takes no arguments, but got "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww….
    $ mine one two
    error: pickaxe mine takes no arguments, but got "one" "two".
    $ mine h.example:1848
    error: pickaxe mine takes no arguments, but got "h.example:1848". Did you mean pickaxe mine --node h.example:1848?
    $ mine HTTPS://h
    error: pickaxe mine takes no arguments, but got "HTTPS://h". Did you mean pickaxe mine --node HTTPS://h?
    $ KEY
    error: unknown command "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1…. Did you mean pickaxe mine --public-key a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a…?
    $ mine k:A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1
    error: pickaxe mine takes no arguments, but got "k:A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1…. Did you mean pickaxe mine --public-key k:A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A1A…?
    $ mine KEYx
    error: pickaxe mine takes no arguments, but got "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1….
    $ mine RIG.TOML
    error: pickaxe mine takes no arguments, but got "RIG.TOML". Did you mean pickaxe mine --config RIG.TOML?
    $ mine all
    error: pickaxe mine takes no arguments, but got "all". Did you mean pickaxe mine --devices all?
    $ mine none,cpu
    error: pickaxe mine takes no arguments, but got "none,cpu". Did you mean pickaxe mine --devices none,cpu?
    $ mine gpu
    error: pickaxe mine takes no arguments, but got "gpu". Did you mean pickaxe mine --devices gpu?
    $ mine cpus
    error: pickaxe mine takes no arguments, but got "cpus".
    $ mine development
    error: pickaxe mine takes no arguments, but got "development". Did you mean pickaxe mine --network development?
    $ mine testnet04
    error: pickaxe mine takes no arguments, but got "testnet04". Did you mean pickaxe mine --network testnet04?
    $ mine testnet4
    error: pickaxe mine takes no arguments, but got "testnet4".
    $ mine 80
    error: pickaxe mine takes no arguments, but got "80". Did you mean pickaxe mine --http 80?
    $ mine 8
    error: pickaxe mine takes no arguments, but got "8". Did you mean pickaxe mine --threads 8?
    $ mine 123456
    error: pickaxe mine takes no arguments, but got "123456". Did you mean pickaxe mine --threads 123456?
    $ mine host:8080
    error: pickaxe mine takes no arguments, but got "host:8080". Did you mean pickaxe mine --node host:8080?
    $ mine 50%
    error: pickaxe mine takes no arguments, but got "50%". Did you mean pickaxe mine --threads 50%?
    $ bench 30s
    error: pickaxe bench takes no arguments, but got "30s".
    $ bench 30w
    error: pickaxe bench takes no arguments, but got "30w".
    $ keygen a 8080
    error: pickaxe keygen takes only <file>, but also got "8080".
    $ tx bu
    error: unknown command "bu" of pickaxe tx.
    $ tx bui
    error: unknown command "bui" of pickaxe tx. Did you mean pickaxe tx build?
    $ tx s
    error: unknown command "s" of pickaxe tx.
    $ tx sen
    error: unknown command "sen" of pickaxe tx. Did you mean pickaxe tx send?
    $ bench compare a
    error: missing required argument 'b.json'
    $ bench comp
    error: pickaxe bench takes no arguments, but got "comp". Did you mean pickaxe bench compare?
    $ bench co
    error: pickaxe bench takes no arguments, but got "co".
    $ dev
    error: unknown command "dev". Did you mean pickaxe devices?
    $ de
    error: unknown command "de".
    $ gpu0
    error: unknown command "gpu0". Did you mean pickaxe mine --devices gpu0?
    $ --threads 4 --foo
    error: options come after a command: pickaxe mine --threads …
    $ -o http://h:1 mine
    error: options come after a command: pickaxe mine -o …
    $ mine -o
    error: -o, --url <url> has no value.
    $ mine -o --

    $ mine -o -1

    $ mine -t -tt

    $ mine -t -p
    error: -t has no value: -p, which follows, is an option.
    $ mine -- -pl foo
    error: pickaxe mine takes no arguments, but got "-pl" "foo".
    $ mine -- foo --donate-level
    error: pickaxe mine takes no arguments, but got "foo" "--donate-level".
    $ mine -proxy
    error: pickaxe mine has no -proxy. pickaxe connects directly: it has no setting for a proxy.
    $ mine --url=http://h:1 -u
    error: -u <name> has no value.
    $ mine --donate-level=1 --donate-level=2
    error: pickaxe mine has no --donate-level. Leave it out: pickaxe takes no fee.
    $ mine -network development
    error: -network is written with two hyphens: --network.
    $ mine -network=development
    error: -network is written with two hyphens: --network.
    $ help
    help
    $ help start
    help
    $ help mine more
    error: unknown command "more" of pickaxe mine.
    $ start --foo
    error: unknown option '--foo'
    (Did you mean --pool?)
    $ -V extra
    help
    $ version
    help
    $ setup one
    error: pickaxe init takes no arguments, but got "one"."
  `);
});

it('no words are no words', () => {
  expect(withoutGuesses([])).toEqual([]);
  expect(withoutGuesses(['help'])).toEqual(['help']);
  expect(withoutGuesses(['help', 'status', 'start'])).toEqual(['help', 'stats', 'start']);
  expect(withoutGuesses(['run', 'run'])).toEqual(['mine', 'run']);
});
