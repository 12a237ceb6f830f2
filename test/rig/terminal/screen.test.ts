import { describe, expect, it } from 'vitest';
import { writeLine } from '#pickaxe/rig/terminal/screen.js';

describe('a line', () => {
  it.each([
    [0, ['line\n']],
    [16 * 1024 * 1024 - 1, ['line\n']],
    [16 * 1024 * 1024, []],
  ])('is written beside %i bytes that wait for the reader, or dropped', (writableLength, lines) => {
    const written: string[] = [];
    writeLine({ writableLength, write: (line: string) => written.push(line) } as never, 'line\n');
    expect(written).toEqual(lines);
  });
});
