/** Where notices go by the settings of the webhook, and which of these settings are refused. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveConfig } from '#pickaxe/app/composition/reload.js';
import { notices } from '#pickaxe/app/composition/sidecars.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { Folder } from '../../config/folder.ts';
import { idleMiner } from './fakes.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

/** No notice of these comes in a test. */
const EVENTS = ['block'] as never;

async function warned(webhook: Config['webhook']) {
  const config: Config = { ...DEFAULTS, webhook: { events: EVENTS, ...webhook } };
  const { running, said } = idleMiner();
  const sidecar = await notices(new LiveConfig({ config, origins: new Map(), files: [] }, expect.fail));
  const end = await sidecar(running);
  await end();
  return said.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
}

describe('a token of the webhook', () => {
  it('is not sent where there is none', async () => {
    expect(await warned({ url: 'http://example.com/' })).toEqual([]);
  });

  it.each(['a b', 'ü'])('is refused if it is “%s”, and not repeated', async (text) => {
    const tokenFile = folder.write('token', text);
    const refused = warned({ url: 'https://example.com/', tokenFile });
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(
      `--webhook-token-file: ${tokenFile} must contain one token of visible ASCII characters and nothing else.`,
    );
  });
});

describe('the URL of the webhook', () => {
  it('may be in a file, whose content is not repeated', async () => {
    const tokenFile = folder.write('token', 'abc');
    const url = folder.write('url', 'http://example.com/secret\n');
    expect((await warned({ urlFile: url, tokenFile })).join()).toMatch(/^http:\/\/example\.com does not use https/);
    const wrong = warned({ urlFile: folder.write('wrong', 'ftp://example.com/secret') });
    await expect(wrong).rejects.toThrow(UsageError);
    await expect(wrong).rejects.toThrow(/^--webhook-file: /);
    await expect(wrong).rejects.not.toThrow('secret');
  });

  it('is not needed', async () => {
    expect(await warned({})).toEqual([]);
  });
});
