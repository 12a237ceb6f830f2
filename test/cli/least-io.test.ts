import { expect, it } from 'vitest';
import type { Io } from '#pickaxe/cli/io.js';
import { run } from '#pickaxe/cli/run.js';

it('a program that runs a command need not give more than this', async () => {
  let printed = '';
  const io: Io = {
    out: (text) => {
      printed += text;
    },
    say: () => {},
    read: () => Promise.resolve(new Uint8Array()),
    confirm: () => Promise.resolve(undefined),
    now: Date.now,
    stop: new AbortController().signal,
    columns: undefined,
    showsProgress: false,
  };
  expect(await run(['config', 'schema'], io)).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({ type: 'object' });
});
