import { expect, it } from 'vitest';
import { chooseSource } from '#pickaxe/app/choose-source.js';
import { DEFAULTS } from '#pickaxe/config/settings.js';
import { Events } from '#pickaxe/events/events.js';

const settings = (urls: string[]) => ({
  node: { ...DEFAULTS.node, urls, network: 'mainnet01' },
  pool: DEFAULTS.pool,
  miner: { ...DEFAULTS.miner, publicKeys: ['0'.repeat(64)] },
});

it('nodes whose shown URLs are equal get different names', () => {
  const urls = ['ONE', 'OTHER'].map((key) => `https://node.example/${key}/chainweb/0.0/mainnet01`);
  const shown = 'https://node.example/…/chainweb/0.0/mainnet01';
  expect(chooseSource(settings(urls), new Events()).source.name).toBe(`${shown}, ${shown} (2)`);
  expect(chooseSource(settings(urls.slice(1)), new Events()).source.name).toBe(shown);
});

it('an invalid node URL is an error that shows what one looks like', () => {
  expect(() => chooseSource(settings(['http://node.example?key=x']), new Events())).toThrow('node.example');
});
