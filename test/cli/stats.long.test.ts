import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Status } from '#pickaxe/report/http/schemas.js';
import { expectShape } from '../expect-shape.ts';
import { pickaxe, type Run, start } from './pickaxe.ts';

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function miner(...args: string[]): Promise<string> {
  const run: Run = start(['demo', '--devices', 'cpu', '--threads', '1', '--http', '0', ...args]);
  ends.push(() => {
    run.child.kill('SIGKILL');
    return run.code;
  });
  return await vi.waitFor(
    () => {
      const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(run.stderr) ?? [];
      expect(port, run.stderr).toBeDefined();
      return port!;
    },
    { timeout: 60_000 },
  );
}

/** A server that is not a miner. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

const stats = (port: string, ...args: string[]) => pickaxe('stats', '--http', port, ...args);

describe('pickaxe stats', () => {
  it('reports how a miner is doing, in every format', async () => {
    const port = await miner();
    const json = await stats(port, '--json');
    expect(json.code).toBe(0);
    expectShape(Status, JSON.parse(json.stdout));
    const hive = await stats(port, '--format', 'hive');
    const [khs, line] = hive.stdout.split('\n');
    expect(Number(khs)).toBeGreaterThanOrEqual(0);
    expect(JSON.parse(line)).toMatchObject({ hs_units: 'khs' });
    expect(JSON.parse((await stats(port, '--format', 'mmpos')).stdout)).toMatchObject({ miner_name: 'pickaxe' });
    expect(JSON.parse((await stats(port, '--format', 'xmrig')).stdout)).toMatchObject({ kind: 'miner' });
    expect((await stats(port, '--format', 'prom')).stdout).toMatch(/^pickaxe_build_info\{/m);
  }, 60_000);

  it('prints a table for people', async () => {
    const port = await miner('--rig-name', 'attic');
    const { stdout } = await vi.waitFor(
      async () => {
        const table = await stats(port);
        expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state +mining for/m) });
        return table;
      },
      { timeout: 60_000 },
    );
    expect(stdout).toMatch(/^rig +attic, pickaxe \d+\.\d+\.\d+, up for /);
    expect(stdout).toMatch(/^hashrate +.*[kMG]?H\/s since the start$/m);
    expect(stdout).toMatch(/^blocks +\d+ accepted, \d+ rejected, \d+ stale; [\d.]+ expected, effort \d+ %$/m);
    expect(stdout).toMatch(/^node +http:\/\/127\.0\.0\.1:\d+\/.*: connected for /m);
    expect(stdout).toMatch(/^device +state +10 s +60 s +15 min +accepted /m);
    expect(stdout).toMatch(/^cpu +ready /m);
    for (const line of stdout.split('\n')) expect(line).toBe(line.trimEnd());
  }, 90_000);

  it('--help describes this command’s options, not those of mine', async () => {
    const { code, stdout } = await pickaxe('stats', '--help');
    expect([code, stdout]).toEqual([0, expect.stringContaining('where the miner serves HTTP')]);
    expect(stdout).not.toContain('serve a web page');
  });

  it('accepts --json or --format, not both', async () => {
    const { code, stderr } = await stats('1', '--json', '--format', 'hive');
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used with')]);
  });

  it('ends with exit code 2 without an address, or with an unknown format', async () => {
    const none = await pickaxe('stats');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--http [HOST:]PORT')]);
    expect((await pickaxe('stats', '--http', '1', '--format', 'xml')).code).toBe(2);
  });

  it.each<[string, RequestListener, string]>([
    ['another service', (_, response) => response.end('<html>hello'), 'the answer is not JSON'],
    ['another version', (_, response) => response.end('{"version":"9"}'), 'not one of this version'],
    ['a miner with a token', (_, response) => response.writeHead(401).end(), '--http-token-file'],
    ['a page that is not there', (_, response) => response.writeHead(404).end(), 'answers 404'],
    ['an endless answer', (_, response) => void pour(response), 'could not be read'],
    ['no answer', () => {}, 'it does not answer'],
  ])('says what is wrong with %s', async (_, listener, says) => {
    const { code, stdout, stderr } = await stats(await answering(listener));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(says);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says that nothing listens', async () => {
    const { code, stderr } = await stats('1');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: there is no miner at .*with --http\?\n$/)]);
  });
});

function pour(response: { write(chunk: string): boolean; once(event: 'drain', then: () => void): unknown }): void {
  while (response.write('x'.repeat(65_536)));
  response.once('drain', () => pour(response));
}
