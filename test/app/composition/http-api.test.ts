/** Where the web page of a rig is served, what the log says of that, and which tokens are taken. */

import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { httpOptions, httpSidecar, listenHttp } from '#pickaxe/app/composition/http-api.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import type { Http } from '#pickaxe/rig/http/http-server.js';
import type { ServedPage } from '#pickaxe/rig/terminal/pages.js';
import { listeningLog } from '../../rig/pauses/fakes.ts';
import { Folder } from '../config/folder.ts';
import { idleMiner } from './sidecars/fakes.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

const listen = { host: '127.0.0.1', port: 0 };
const withToken = (text: string) => ({ ...DEFAULTS.http, listen, tokenFile: folder.write('token', text) });

describe('the token of the web page', () => {
  it.each([
    ['16 characters', 'x'.repeat(16), true],
    ['512 characters, and a line break', `${'~'.repeat(512)}\n`, true],
    ['15 characters', 'x'.repeat(15), false],
    ['513 characters', 'x'.repeat(513), false],
    ['a space', 'a token of 16 characters', false],
    ['another language', 'ü'.repeat(20), false],
  ])('may be %s, or is refused', (_, text, isTaken) => {
    const settings = withToken(text);
    if (isTaken) expect(httpOptions(settings)).toMatchObject({ ...listen, token: text.trim() });
    else {
      expect(() => httpOptions(settings)).toThrow(UsageError);
      expect(() => httpOptions(settings)).toThrow(/must contain one token of 16 to 512 .* Make one with: .*token/);
      expect(() => httpOptions(settings)).not.toThrow(text.trim());
    }
  });

  it('is not needed, and nothing is served without an address', () => {
    expect(httpOptions(DEFAULTS.http)).toBeUndefined();
    expect(httpSidecar(DEFAULTS.http)).toBeUndefined();
    expect(httpOptions({ ...DEFAULTS.http, listen, control: true })).toEqual({ ...listen, control: true });
  });
});

describe('the log', () => {
  const http =
    (more: Partial<Http> = {}) =>
    async () =>
      ({ url: 'http://here', close: async () => {}, ...more }) as Http;
  it.each([
    ['read-only', {}, {}, 'listening at http://here, read-only'],
    ['controlled', { control: true }, {}, 'listening at http://here, everything allowed'],
    ['with a token', { token: 'x' }, {}, 'listening at http://here, read-only, token required'],
    [
      'from elsewhere',
      {},
      { reachableUrl: 'http://there' },
      'listening at http://here (from other machines: http://there), read-only',
    ],
  ])('says where the page is served: %s', async (_, options, served, line) => {
    const { log, said } = listeningLog();
    await listenHttp(http(served), { ...listen, control: false, ...options }, 'everything', log);
    expect(said).toEqual([{ level: 'info', msg: line }]);
  });

  it('says why it cannot be served', async () => {
    const occupied = createServer();
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void occupied.close());
    const { port } = occupied.address() as { port: number };
    const { running } = idleMiner();
    const sidecar = httpSidecar({ ...DEFAULTS.http, listen: { ...listen, port } })!;
    await expect(sidecar(running)).rejects.toThrow(
      new UsageError(
        `cannot listen on --http 127.0.0.1:${port}: port ${port} is in use, perhaps by another pickaxe. ` +
          'Stop that program, or give another port.',
      ),
    );
  });
});

it('the terminal is told the link for other machines, if there is one', async () => {
  const { running, said } = idleMiner();
  const served: ServedPage[] = [];
  const all = { ...DEFAULTS.http, listen: { host: '0.0.0.0', port: 0 } };
  const end = await httpSidecar(all, (page) => served.push(page))!(running);
  onTestFinished(end);
  const [, here, elsewhere] = /^listening at (\S+?)(?: \(from other machines: (\S+)\))?, read-only$/.exec(said[0].msg)!;
  expect(served).toEqual([{ url: elsewhere ?? here, token: undefined }]);
});

it('the web page is served until the miner has ended, and the terminal is told its link', async () => {
  const { running } = idleMiner();
  const served: ServedPage[] = [];
  const token = 'x'.repeat(20);
  const end = await httpSidecar(withToken(token), (page) => served.push(page))!(running);
  expect(served).toEqual([{ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), token }]);
  expect((await fetch(served[0].url)).status).toBe(200);
  await end();
  await expect(fetch(served[0].url)).rejects.toThrow();
});
