import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withData } from '#pickaxe/miner/source/node/update-streams.js';

async function* chunksOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

async function transform(...parts: (string | Uint8Array)[]): Promise<string> {
  const encoder = new TextEncoder();
  let out = '';
  for await (const chunk of withData(chunksOf(parts.map((p) => (typeof p === 'string' ? encoder.encode(p) : p))))) {
    out += new TextDecoder().decode(chunk);
  }
  return out;
}

describe('withData', () => {
  it('adds the data line that a node omits', async () => {
    expect(await transform('event:New Cut\n\n')).toBe('event:New Cut\ndata:\n\n');
  });

  it('passes an event on as soon as it is complete', async () => {
    const events = withData(chunksOf([new TextEncoder().encode('event:New Cut\r\n\r')]));
    expect((await events.next()).value).toEqual(new TextEncoder().encode('event:New Cut\ndata:\n\n'));
  });

  it('passes on only the name of an event', async () => {
    expect(await transform('event: a\ndata: 1\nid: 7\nretry: 1\n\ndata: 2\n\n')).toBe('event: a\ndata:\n\n');
  });

  it('drops comments, empty lines, and fields for clients that reconnect by themselves', async () => {
    expect(await transform('\n\n: still here\n\nretry: 1\n\nid: 7\n\n')).toBe('');
  });

  it('drops an event that the end of the stream cuts off', async () => {
    expect(await transform('event:New Cut\n\nevent:New Cut\n')).toBe('event:New Cut\ndata:\n\n');
  });

  it.each(['\n', '\r\n', '\r'])('reads lines that end in %j, however they are split', async (end) => {
    const text = ['event:New Cut', '', ': a comment', '', 'event:☃', '', ''].join(end);
    const bytes = new TextEncoder().encode(text);
    const whole = await transform(text);
    expect(whole).toBe('event:New Cut\ndata:\n\nevent:☃\ndata:\n\n');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 8 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
        expect(await transform(...parts)).toBe(whole);
      }),
    );
  });

  it('reads lines that end in different ways', async () => {
    expect(await transform('event:a\r\n\nevent:b\n\r\nevent:c\r\r\n')).toBe(
      'event:a\ndata:\n\nevent:b\ndata:\n\nevent:c\ndata:\n\n',
    );
  });

  it.each(['\n', '\r\n', '\r'])('takes the last name of an event whose lines end in %j', async (end) => {
    expect(await transform(['event:a', 'event:b', '', ''].join(end))).toBe('event:b\ndata:\n\n');
  });

  it('allows lines of 4,096 characters', async () => {
    const line = `event:${'x'.repeat(4_090)}`;
    expect(await transform(line, '\n\n')).toBe(`${line}\ndata:\n\n`);
    await expect(transform(`${line}x`, '\n\n')).rejects.toThrow('sends no events');
  });

  it('gives up on a stream that never ends a line', async () => {
    const long = 'x'.repeat(3_000);
    await expect(transform(long, long)).rejects.toThrow('sends no events');
    expect(await transform(`${long}\n`, `${long}\n`)).toBe('');
  });
});
