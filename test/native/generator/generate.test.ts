import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COUNTER, JOB, PAGE } from '../../../native/generator/algebra.ts';
import { cpuKernel, generatedFiles, gpuKernel } from '../../../native/generator/generate.ts';
import {
  costPerNonce,
  describe as describeKernel,
  handedDown,
  operationsAt,
} from '../../../native/generator/last-block.ts';

describe('the cost of a nonce', () => {
  test('is 890 operations and the comparison on a GPU', () => {
    expect(costPerNonce(gpuKernel)).toBe(890);
    expect(handedDown(gpuKernel, JOB)).toHaveLength(21);
  });

  test('is 953 operations and the test on a CPU', () => {
    expect(costPerNonce(cpuKernel)).toBe(953);
    expect(handedDown(cpuKernel, COUNTER)).toHaveLength(5);
    expect(operationsAt(cpuKernel, PAGE)).toHaveLength(0);
  });

  test('is two rotates less with a rotated result', () => {
    const plain = describeKernel({ addends: 2, loopsOverPages: true, result: 'plain' });
    expect(costPerNonce(plain) - costPerNonce(cpuKernel)).toBe(2);
  });
});

test.each(Object.entries(generatedFiles()))('%s is what `npm run generate` writes', (path, text) => {
  expect(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')).toBe(text);
});
