/** `pickaxe stats`, asked about a rig in memory, and about servers that are no miners. */

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RigsReport } from '#pickaxe/cli/mining/stats-table.js';
import { Status } from '#pickaxe/rig/status/status.js';
import { expectShape } from '../../expect-shape.ts';
import { serve } from '../../rig/http/serving.ts';
import { pickaxe } from '../in-process.ts';
import { tokenFile } from '../token-file.ts';

/** A server that is not a miner. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return String((server.address() as AddressInfo).port);
}

const stats = (port: string, ...args: string[]) => pickaxe('stats', '--http', port, ...args);

describe('pickaxe stats', () => {
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
  ])('says what is wrong with %s', async (_, listener, message) => {
    const { code, stdout, stderr } = await stats(await answering(listener));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('waits for an answer for three seconds', async () => {
    const limits: number[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms);
      return AbortSignal.abort();
    });
    onTestFinished(() => timeout.mockRestore());
    const { code, stderr } = await stats(await answering(() => {}));
    expect([code, stderr, limits]).toEqual([1, expect.stringContaining('(it does not answer)'), [3_000]]);
  });

  it('prints the status of a miner in every format, each in its own path', async () => {
    const { port } = await serve();
    const printed = async (...args: string[]) => {
      const { code, stdout, stderr } = await stats(`${port}`, ...args);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    expectShape(Status, JSON.parse(await printed('--json')));
    const table = await printed();
    expect(table).toMatch(/^rig +rig-7, pickaxe /m);
    for (const line of table.split('\n')) expect(line).toBe(line.trimEnd());
    const [khs, line] = (await printed('--format', 'hive')).split('\n');
    expect([Number(khs), JSON.parse(line)]).toEqual([0, expect.objectContaining({ hs_units: 'khs' })]);
    expect(JSON.parse(await printed('--format', 'mmpos'))).toMatchObject({ miner_name: 'pickaxe' });
    expect(JSON.parse(await printed('--format', 'xmrig'))).toMatchObject({ kind: 'miner' });
    const metrics = await printed('--format', 'prom');
    expect(metrics).toMatch(/^pickaxe_build_info\{/m);
    expect(metrics).toBe(metrics.trimEnd());
  });

  it('asks several miners at once, one row for each, and ends with 1 when one does not answer', async () => {
    const { port } = await serve();
    const both = ['stats', '--http', `${port}`, '--http', '127.0.0.1:1'];
    const table = await pickaxe(...both);
    expect([table.code, table.stderr]).toEqual([1, '']);
    const [, first, second, all] = table.stdout.split('\n');
    expect(first).toMatch(new RegExp(`^rig-7 +127\\.0\\.0\\.1:${port} `));
    expect(second).toMatch(/^- +127\.0\.0\.1:1 +no answer .*ECONNREFUSED/);
    expect(all).toMatch(/^all +\d of 2 mining /);
    const json = await pickaxe(...both, '--json');
    expect(json.code).toBe(1);
    const report = JSON.parse(json.stdout);
    expectShape(RigsReport, report);
    expect(report.rigs.map(({ fault }: { fault: string | null }) => fault)).toEqual([
      null,
      expect.stringContaining('ECONNREFUSED'),
    ]);
    expect((await pickaxe('stats', '--http', `${port}`, '--http', `${port}`)).code).toBe(0);
  });

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
