/** Runs the dialogue of docs/workers.md with the built worker. */

import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Answer } from '#pickaxe/protocol/wire/worker.js';
import { makeHeader } from '../../miner/source/parent/parent.ts';
import { PATIENCE } from '../../patience.ts';
import { killWorkers, startWorker } from './worker-parent.ts';

afterEach(killWorkers);

const page = readFileSync(new URL('../../../docs/workers.md', import.meta.url), 'utf8');
const [, block] = /```dialogue\n([\s\S]*?)```/.exec(page)!;
const dialogue = block.trim().split('\n');

/** Whether an answer is what the page shows; `…` stands for anything. */
function isAs(shown: Record<string, unknown>, answer: Answer): boolean {
  const same = (name: string, value: unknown) =>
    shown[name] === '…' || JSON.stringify(shown[name]) === JSON.stringify(value);
  const names = Object.keys(answer);
  return (
    names.sort().join() === Object.keys(shown).sort().join() && Object.entries(answer).every((each) => same(...each))
  );
}

it('the dialogue of docs/workers.md happens as it is written', async () => {
  expect(dialogue.length).toBeGreaterThan(15);
  const { parent, code } = startWorker();
  let read = 0;
  for (const line of dialogue) {
    const text = line.slice(2);
    if (line.startsWith('→ ')) parent.say(text.replace('HEADER', toHex(makeHeader(1e12))));
    else {
      const shown = JSON.parse(text);
      await vi.waitFor(() => {
        const at = parent.answers.findIndex((answer, i) => i >= read && isAs(shown, answer));
        if (at < 0) expect.fail(`${text}\nhas not come after:\n${parent.lines.slice(read).join('\n')}`);
        read = at + 1;
      }, PATIENCE);
    }
  }
  expect(await code).toBe(0);
});
