import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RigsReport } from '#pickaxe/cli/mining/stats-table.js';
import { Status } from '#pickaxe/rig/status/status.js';
import { expectShape } from '../../expect-shape.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe } from '../in-process.ts';
import { type Run, start } from '../pickaxe.ts';
import { tokenFile } from '../token-file.ts';

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
  return await vi.waitFor(() => {
    const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(run.stderr) ?? [];
    expect(port, run.stderr).toBeDefined();
    return port!;
  }, PATIENCE);
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
  }, 120_000);

  it('prints a table for people', async () => {
    const port = await miner('--rig-name', 'attic');
    const { stdout } = await vi.waitFor(async () => {
      const table = await stats(port);
      expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state +mining for/m) });
      return table;
    }, PATIENCE);
    expect(stdout).toMatch(/^rig +attic, pickaxe \d+\.\d+\.\d+, up for /);
    expect(stdout).toMatch(/^hashrate +.*[kMG]?H\/s since the start$/m);
    expect(stdout).toMatch(/^blocks +\d+ accepted, \d+ rejected, \d+ stale; [\d.]+ expected, effort \d+ %$/m);
    expect(stdout).toMatch(/^node +http:\/\/127\.0\.0\.1:\d+: connected for /m);
    expect(stdout).toMatch(/^device +state +10 s +60 s +15 min +accepted /m);
    expect(stdout).toMatch(/^cpu +ready /m);
    for (const line of stdout.split('\n')) expect(line).toBe(line.trimEnd());
  }, 120_000);

  it('--help describes this command’s options, not those of mine', async () => {
    const { code, stdout } = await pickaxe('stats', '--help');
    expect([code, stdout]).toEqual([0, expect.stringContaining('where a miner serves HTTP')]);
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

  it.each<[string, RequestListener, string | RegExp]>([
    ['another service', (_, response) => response.end('<html>hello'), 'the answer is not JSON'],
    ['another version', (_, response) => response.end('{"version":"9"}'), 'not one of this version'],
    [
      'a miner with a token',
      (_, response) => response.writeHead(401).end(),
      /the miner at http:\/\/\S+:\d+ asks for its token: .*--http-token-file/,
    ],
    ['a page that is not there', (_, response) => response.writeHead(404).end(), 'answers 404'],
    ['an endless answer', (_, response) => void pour(response), 'could not be read'],
    ['no answer', () => {}, 'it does not answer'],
  ])('says what is wrong with %s', async (_, listener, message) => {
    const { code, stdout, stderr } = await stats(await answering(listener));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('asks several miners at once, one row for each, and ends with 1 when one does not answer', async () => {
    const port = await miner('--rig-name', 'attic');
    const silent = await answering(() => {});
    const both = ['stats', '--http', port, '--http', `127.0.0.1:${silent}`];
    const table = await pickaxe(...both);
    expect([table.code, table.stderr]).toEqual([1, '']);
    const [, first, second, all] = table.stdout.split('\n');
    expect(first).toMatch(new RegExp(`^attic +127\\.0\\.0\\.1:${port} `));
    expect(second).toMatch(new RegExp(`^- +127\\.0\\.0\\.1:${silent} +no answer .*it does not answer`));
    expect(all).toMatch(/^all +\d of 2 mining /);
    const json = await pickaxe(...both, '--json');
    expect(json.code).toBe(1);
    const report = JSON.parse(json.stdout);
    expectShape(RigsReport, report);
    expect(report.rigs.map(({ fault }: { fault: string | null }) => fault)).toEqual([
      null,
      expect.stringContaining('it does not answer'),
    ]);
    expect((await pickaxe('stats', '--http', port, '--http', port)).code).toBe(0);
  }, 120_000);

  it('gives each of several miners its own token, in their order', async () => {
    const tokens = ['a-token-of-the-first-rig', 'a-token-of-the-second-rig'];
    const received: (string | undefined)[][] = [[], []];
    const ports = await Promise.all(
      received.map((each) =>
        answering(({ headers }, response) => {
          each.push(headers.authorization);
          response.writeHead(401).end();
        }),
      ),
    );
    const addresses = ports.flatMap((port) => ['--http', port]);
    const files = tokens.map((token) => ['--http-token-file', tokenFile(token)]);
    await pickaxe('stats', ...addresses, ...files.flat());
    await pickaxe('stats', ...addresses, ...files[0]);
    const [first, second] = tokens.map((token) => `Bearer ${token}`);
    expect(received).toEqual([
      [first, first],
      [second, first],
    ]);
    const { code, stderr } = await pickaxe('stats', '--http', ports[0], ...files.flat());
    expect([code, stderr]).toEqual([2, expect.stringContaining('2 --http-token-file for 1 --http')]);
  });

  it('prints the formats of other systems for one miner only, and says what an address looks like', async () => {
    const { code, stderr } = await pickaxe('stats', '--http', '1', '--http', '2', '--format', 'hive');
    expect([code, stderr]).toEqual([2, expect.stringContaining('give --http only once')]);
    const wrong = await pickaxe('stats', '--http', 'http://rig2:8080');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('rig2:8080')]);
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
