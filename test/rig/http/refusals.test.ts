import { expect, it, vi } from 'vitest';
import { Refusals } from '#pickaxe/base/system/bounded.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { REASONS } from '#pickaxe/rig/http/http-access.js';
import { PATIENCE } from '../../patience.ts';
import { sendRaw, serve } from './serving.ts';

const TOKEN = 'correct-horse-battery';
const MINUTE_MS = 60_000;

function noting() {
  const logged: string[] = [];
  return { logged, refusals: new Refusals(systemClock, REASONS, (line) => void logged.push(line), MINUTE_MS) };
}

const metric = (text: string, reason: string) =>
  Number(new RegExp(`^pickaxe_http_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1]);

it('refusals are logged once a minute, and not at all while there are none', () => {
  vi.useFakeTimers();
  try {
    const { refusals, logged } = noting();
    for (let i = 0; i < 300; i++) refusals.note('wrong-token', '::ffff:192.168.0.9');
    refusals.note('pipelined', 'fd00::9');
    vi.advanceTimersByTime(MINUTE_MS - 1);
    expect(logged).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(logged).toEqual(['refused: pipelined 1, wrong-token 300; from 192.168.0.9, fd00::9']);
    vi.advanceTimersByTime(10 * MINUTE_MS);
    expect(logged).toHaveLength(1);
    refusals.note('timeout', undefined);
    refusals.note('timeout', undefined);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(logged.slice(1)).toEqual(['refused: timeout 2']);
    expect(refusals.counts).toMatchObject({ 'wrong-token': 300, pipelined: 1, timeout: 2, crowded: 0 });
  } finally {
    vi.useRealTimers();
  }
});

it('the log names no more than a few addresses, however many there are', () => {
  const { refusals, logged } = noting();
  for (let i = 0; i < 5_000; i++) refusals.note('wrong-token', `fd00::${i.toString(16)}`);
  refusals.close();
  refusals.note('wrong-token', 'fd00::0');
  refusals.close();
  expect(logged).toEqual([
    'refused: wrong-token 5000; from fd00::0, fd00::1, fd00::2, fd00::3 and others',
    'refused: wrong-token 1; from fd00::0',
  ]);
});

it('the log names all addresses while they are few, and mentions others only if there are some', () => {
  const { refusals, logged } = noting();
  for (let i = 0; i < 8; i++) refusals.note('wrong-token', `fd00::${i % 4}`);
  refusals.close();
  expect(logged).toEqual(['refused: wrong-token 8; from fd00::0, fd00::1, fd00::2, fd00::3']);
});

it('refusals that are not logged yet are logged once when the run ends', () => {
  vi.useFakeTimers();
  try {
    const { refusals, logged } = noting();
    refusals.close();
    expect(logged).toEqual([]);
    refusals.note('crowded', '127.0.0.1');
    refusals.close();
    refusals.close();
    vi.advanceTimersByTime(MINUTE_MS);
    expect(logged).toEqual(['refused: crowded 1; from 127.0.0.1']);
  } finally {
    vi.useRealTimers();
  }
});

it('wrong tokens are counted apart from missing ones, and logged with the addresses that sent them', async () => {
  const { ask, logged } = await serve({ token: TOKEN, limits: { logMs: 100 } });
  for (let i = 0; i < 5; i++) await ask('/metrics', { headers: { authorization: `Bearer ${TOKEN}${i}` } });
  await ask('/metrics');
  const { text } = await ask('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } });
  expect([metric(text, 'wrong-token'), metric(text, 'no-token')]).toEqual([5, 1]);
  const lines = () => logged.filter(({ message }) => message.startsWith('refused'));
  await vi.waitFor(() => expect(told(lines(), 'wrong-token')).toBe(5), PATIENCE);
  expect(lines()[0]).toMatchObject({
    level: 'warn',
    tag: 'http',
    message: expect.stringContaining('; from 127.0.0.1'),
  });
  expect(JSON.stringify(logged)).not.toContain(TOKEN);
});

/** The sum of the refusals in all lines. */
function told(lines: readonly { message: string }[], reason: string): number {
  return lines.reduce((sum, { message }) => sum + Number(new RegExp(`${reason} (\\d+)`).exec(message)?.[1] ?? 0), 0);
}

it('every reason has a sample from the start, and refusals are counted by their reason', async () => {
  const { ask, port } = await serve({ control: true });
  const first = (await ask('/metrics')).text;
  expect(first.match(/^pickaxe_http_refused_total\{.*\} 0$/gm)).toHaveLength(13);
  await ask('/healthz', { headers: { host: 'evil.example' } });
  await ask('/healthz', { headers: { origin: 'https://evil.example' } });
  await ask('/api/v1/history?range=99h');
  await sendRaw(port, 'nonsense\r\n\r\n');
  await sendRaw(port, `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(9_000)}\r\n\r\n`);
  await ask('/api/v1/pause', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ device: 'x'.repeat(5_000) }),
  });
  await ask('/favicon.ico');
  const { text } = await ask('/metrics');
  const counts = Object.fromEntries(
    [...text.matchAll(/^pickaxe_http_refused_total\{reason="(.*)"\} (\d+)$/gm)].map(([, reason, n]) => [
      reason,
      Number(n),
    ]),
  );
  expect(Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))).toEqual({
    'forbidden-host': 1,
    'forbidden-origin': 1,
    'bad-request': 2,
    'headers-too-large': 1,
    'body-too-large': 1,
  });
});

it('what only --http-control allows is counted, too', async () => {
  const { ask } = await serve();
  await ask('/api/v1/stop', { method: 'POST' });
  expect(metric((await ask('/metrics')).text, 'read-only')).toBe(1);
});

it.each([
  ['two names', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n'],
  ['two equal names', 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'],
  ['a name in its target', 'GET http://evil.example/healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'],
])('a request with %s of the host is refused: a proxy could go by the other one', async (_, request) => {
  const { port } = await serve();
  const answer = await sendRaw(port, request);
  expect(answer).toContain('HTTP/1.1 400 ');
  expect(answer).toContain('send one Host header');
});
