/** Runs the shaders' arithmetic as JavaScript, so that it is checked even without a GPU. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareWords } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import { SHADERS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { hashTail, type Puzzle, placeNonce } from '#pickaxe/protocol/chain/job.js';

const textOf = (shader: string) => readFileSync(new URL(`../../../shaders/${shader}`, import.meta.url), 'utf8');

/** @returns a function that computes hash word 7 as the shader does */
function word7Of(shader: string): (job: Uint32Array, counter: number) => number {
  const text = textOf(shader);
  const lets = text.matchAll(/^ *let ([jx]\d+|rotate\d+|one|zero) = (.*);$/gm);
  const statements = [...lets].map(([, name, expression]) => {
    const javaScript = expression
      .replace(/job\[(\d)\]\.([xyzw])/, (_, vector, part) => `job[${4 * vector + 'xyzw'.indexOf(part)}]`)
      .replace(/control\.rotate(\d+)/, '$1')
      .replace('control.one', '1')
      .replace(/\b(0x[0-9a-f]+|\d+)u\b/g, '$1')
      .replaceAll('>>', '>>>');
    return `const ${name} = (${javaScript}) >>> 0;`;
  });
  const [, result] = text.match(/if \((.*) <= target7\)/)!;
  return new Function('job', 'counter', `${statements.join('\n')}\nreturn (${result}) >>> 0;`) as never;
}

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const words = (count: number) => fc.array(word, { minLength: count, maxLength: count });
const half = fc.integer({ min: 0, max: 0xffff });

describe.each(Object.values(SHADERS))('%s', (shader) => {
  const word7 = word7Of(shader);

  test('needs 890 operations and one comparison per nonce', () => {
    const text = textOf(shader);
    const loop = text.slice(text.indexOf('for (var i'), text.indexOf('if (x'));
    const operations = [...loop.matchAll(/^ *let x\d+ = (.*);$/gm)].map(([, expression]) => expression);
    const kinds = { add: 0, xor: 0, rotate: 0 };
    for (const expression of operations) {
      // A rotate is two shifts and an or, which GPUs do as one; an addition or an exclusive or has two or three
      // operands.
      if (/^\(x\d+ >> [^ ]+\) \| \(x\d+ << [^|]+\)$/.test(expression)) kinds.rotate++;
      else if (/^\w+( \+ \w+){1,2}$/.test(expression.replaceAll(' * one', '').replace(/[()]/g, ''))) kinds.add++;
      else if (/^\w+( \^ \w+){1,2}$/.test(expression)) kinds.xor++;
      else expect.fail(`not one operation: ${expression}`);
    }
    expect(kinds).toEqual({ add: 297, xor: 297, rotate: 296 });
    expect(text.match(/<= target7/g)).toHaveLength(1);
    expect(text).toContain('890 operations and a comparison per nonce');
  });

  test('computes hash word 7', () => {
    fc.assert(
      fc.property(words(8), words(8), half, half, word, (midstate, tail, lane, page, counter) => {
        const puzzle: Puzzle = {
          midstate: Uint32Array.from(midstate),
          tail: Uint32Array.from({ length: 16 }, (_, i) => tail[i] ?? 0),
          target: new Uint32Array(8),
        };
        placeNonce(puzzle.tail, { lane, step: 1, page, counter: 0 });
        const job = prepareWords(puzzle.midstate, puzzle.tail);
        expect(word7(job, counter)).toBe(hashTail(puzzle, { lane, step: 1, page, counter })[7]);
      }),
    );
  });
});
