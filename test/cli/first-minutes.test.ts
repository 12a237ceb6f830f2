/**
 * A newcomer's first minutes, as docs/first-minutes.md shows them: `RECORD=1 npx vitest run
 * test/cli/first-minutes.test.ts` writes that page again. The test compares with it what is the same on every machine
 * and in every run.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MockNode } from '../mock-node/node.ts';
import { cacheHome } from './pickaxe.ts';
import { noTmux, Terminal, why } from './tmux.ts';

const PAGE = fileURLToPath(new URL('../../docs/first-minutes.md', import.meta.url));
const RECORDS = process.env.RECORD !== undefined;
/** How long the miner runs to record the page: long enough for the rate over a minute. */
const MINING_MS = 75_000;

const SECTIONS = {
  pickaxe: 'What now',
  init: 'Set up',
  file: 'The file',
  doctor: 'Check',
  mine: 'Mine',
  quit: 'Quit',
} as const;
type Section = keyof typeof SECTIONS;

const INTRO = `# First minutes

The first session, from an unconfigured machine to mining and quitting, recorded (\`test/cli/first-minutes.test.ts\`) on a machine
without a GPU, with the mock node that comes with pickaxe. A real node gets the same requests.
`;

const TEXTS: Record<Section, string> = {
  pickaxe: '`pickaxe` without a command says what to do next.',
  init: '`pickaxe init` also checks whether the node or pool accepts this miner.',
  file: 'The file contains your answers only.',
  doctor: '`pickaxe doctor` checks everything, with the settings of `pickaxe.toml`.',
  mine: 'The screen a minute later, after the keys `h`, `s`, `c`, `e`, `p` and `r`:',
  quit: 'After the key `q`:',
};

/** Waits only to record the page: the test needs no more output. */
const linger = (ms: number) => (RECORDS ? sleep(ms) : Promise.resolve());

async function play(terminal: Terminal, node: MockNode, url: string): Promise<Record<Section, string>> {
  const seen: Partial<Record<Section, string>> = {};
  const PROMPT = /\n\$ \n*$/;
  const run = async (section: Section, command: string) => {
    await terminal.wipe();
    terminal.type(`${command}\n`);
    await terminal.sees(PROMPT);
    seen[section] = terminal.text();
  };
  await run('pickaxe', 'pickaxe');

  await terminal.wipe();
  terminal.type('pickaxe init\n');
  for (const [question, typed] of [
    [/\? Mine on[^\n]*\n(?:.|\n)*a pool/, '\n'],
    [/\? Node URL [^\n]*\n*$/, `${url}\n`],
    [/\? Another node[^\n]*\n*$/, '\n'],
    [/\? Network [^\n]*\n*$/, '\n'],
  ] as const) {
    await terminal.sees(question);
    terminal.type(typed);
  }
  await terminal.sees('paste its public half');
  terminal.press('Down', 'Enter');
  for (const question of [/\? File for the secret half [^\n]*\n*$/, /\? Account [^\n]*\n*$/]) {
    await terminal.sees(question);
    terminal.press('Enter');
  }
  await terminal.sees(PROMPT);
  seen.init = terminal.text();

  await run('file', 'cat pickaxe.toml');
  await run('doctor', 'pickaxe doctor');

  await terminal.wipe();
  terminal.type('pickaxe mine\n');
  await vi.waitFor(() => expect(node.ledger.stats.accepted).toBeGreaterThan(0), 60_000);
  await linger(MINING_MS);
  for (const [key, says] of [
    ['h', 'verified candidates prove it'],
    ['s', 'became'],
    ['c', 'New Cuts'],
    ['e', 'hardware error'],
    ['p', 'paused: by the key p'],
    ['r', 'resuming'],
  ] as const) {
    await linger(500);
    await pressUntilSeen(terminal, key, says);
  }
  await linger(3_000);
  await terminal.sees(/\n \d[\d.]* [kMG]?H\/s(?: \(10 s\))? {2}[^\n]*\n*$/);
  seen.mine = terminal.text();
  terminal.type('q');
  await terminal.sees(PROMPT);
  seen.quit = terminal.text().slice(terminal.text().indexOf('resuming'));
  return seen as Record<Section, string>;
}

/** Presses a key again where the miner does not know yet what it shall show, such as what became of its blocks. */
function pressUntilSeen(terminal: Terminal, key: string, says: string): Promise<void> {
  return vi.waitFor(
    async () => {
      terminal.type(key);
      await terminal.sees(says, 2_000);
    },
    { timeout: 60_000 },
  );
}

/** Removes what belongs to this machine or this run only. */
function tidy(text: string, directory: string): string {
  return text
    .replaceAll(directory, '/home/you/rig')
    .replaceAll(cacheHome, '/home/you/.cache')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1848')
    .replaceAll(/[ \t]+$/gm, '')
    .replace(/\n\$ *\n*$/, '\n')
    .trim();
}

/** The log has a line for each work and each block; the first and the last ones are enough. */
function shorten(text: string, most: number): string {
  const lines = text.split('\n');
  const log = lines.flatMap((line, i) =>
    /^\[[\d:.]+\] INFO: (work|block|miner (accepted|speed)|node {2}New Cut)/.test(line) ? [i] : [],
  );
  const left = log.slice(most / 2, -most / 2);
  return lines
    .map((line, i) => (i === left[0] ? '…' : line))
    .filter((_, i) => !left.slice(1).includes(i))
    .join('\n');
}

function page(seen: Record<Section, string>): string {
  const sections = Object.entries(SECTIONS) as [Section, string][];
  const texts = sections.map(
    ([name, title]) => `## ${title}\n\n${TEXTS[name]}\n\n\`\`\`\n${shorten(seen[name], 8)}\n\`\`\`\n`,
  );
  return [INTRO, ...texts].join('\n');
}

function sectionsOf(text: string): Record<Section, string> {
  const blocks = [...text.matchAll(/```\n(.*?)\n```/gs)].map(([, block]) => block);
  return Object.fromEntries(Object.keys(SECTIONS).map((name, i) => [name, blocks[i]])) as Record<Section, string>;
}

/** The lines that are the same everywhere, without keys, figures and log. */
function stable(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^(\[|…)/.test(line))
    .map((line) =>
      line
        .replaceAll(/[0-9a-f]{64}/g, 'KEY')
        .replaceAll(/\d[\d.]*/g, 'N')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
}

describe.skipIf(noTmux)(`the first minutes${why}`, () => {
  const node = new MockNode({ dialect: 'chainweb', difficulty: 5e6, rivalMs: 4_000 });
  let seen: Record<Section, string>;
  let shown: Record<Section, string>;

  beforeAll(async () => {
    const { url } = await node.start();
    if (RECORDS) node.ledger.difficulty = 2e9;
    // What is recorded was measured: other tests begin with made-up speeds of the kernels.
    if (RECORDS) rmSync(join(cacheHome, 'pickaxe'), { recursive: true });
    const env = {
      NO_COLOR: '1',
      VK_DRIVER_FILES: '/none',
      VK_ICD_FILENAMES: '/none',
      // What is recorded is what a user sees, with the usual priority.
      ...(RECORDS && { PICKAXE_CPU_PRIORITY: '19' }),
    };
    const terminal = new Terminal({ columns: 110, rows: 45, env });
    try {
      const raw = await play(terminal, node, url);
      const tidied = Object.entries(raw).map(([name, text]) => [name, tidy(text, terminal.directory)]);
      seen = Object.fromEntries(tidied) as Record<Section, string>;
    } finally {
      await terminal.close();
    }
    if (RECORDS) writeFileSync(PAGE, page(seen));
    shown = sectionsOf(readFileSync(PAGE, 'utf8'));
  }, 200_000);

  afterAll(() => node.close());

  it.each(['pickaxe', 'init', 'file'] as const)('of %s are as the page shows them', (section) => {
    // Machines differ in what they mine with, and a shell that starts slowly shows its empty prompt once more.
    const lines = (text: string) => stable(text).filter((line) => !/^(the CPU mines|no GPU|resuming|\$$)/.test(line));
    expect(lines(seen[section])).toEqual(lines(shown[section]));
  });

  it('of doctor are as the page shows them: the same checks, and the same results for the node', () => {
    const about = (text: string) =>
      stable(text).filter((line) => /^(ok|warning|fault) /.test(line) && !/^\w+ (GPU|gpu|limits)/.test(line));
    const names = (text: string) => about(text).map((line) => line.split(' ')[1]);
    expect(names(seen.doctor)).toEqual(names(shown.doctor));
    const nodes = (text: string) => about(text).filter((line) => line.split(' ')[1] === 'node');
    expect(nodes(seen.doctor)).toEqual(nodes(shown.doctor));
  });

  it('of mine are as the page shows them: the keys show the same pages', () => {
    // The line that describes the CPU differs between machines.
    const pages = (text: string) =>
      stable(text)
        .filter((line) => !line.includes(': kernel '))
        .map((line) => line.split(' ')[0])
        .filter((word) => /^[a-z]+$/i.test(word));
    expect(new Set(pages(seen.mine))).toEqual(new Set(pages(shown.mine)));
  });

  it('end with a summary', () => {
    for (const text of [seen.quit, shown.quit]) expect(text).toMatch(/\d+ accepted, \d+ rejected, \d+ stale/);
  });
});
