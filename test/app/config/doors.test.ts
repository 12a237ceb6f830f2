/** Input from outside that is not intended for pickaxe, and values that must not be shown. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { findFile } from '#pickaxe/app/config/config-files.js';
import { configAsJson, configAsToml } from '#pickaxe/app/config/print.js';
import { ConfigError } from '#pickaxe/app/config/raw-settings.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

test('a path that cannot be examined is an error that says what to do', () => {
  const file = folder.write('no-folder', '');
  expect(() => findFile(`${file}/config`)).toThrow(ConfigError);
  expect(() => findFile(`${file}/config`)).toThrow(/set HOME or XDG_CONFIG_HOME/);
});

test('variables that Kubernetes sets for a service called pickaxe are ignored, and similar ones are an error', () => {
  const service = {
    PICKAXE_SERVICE_HOST: '10.0.0.1',
    PICKAXE_SERVICE_PORT: '8080',
    PICKAXE_SERVICE_PORT_HTTP: '8080',
    PICKAXE_PORT: 'tcp://10.0.0.1:8080',
    PICKAXE_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    PICKAXE_PORT_8080_TCP_ADDR: '10.0.0.1',
  };
  expect(folder.problems({ environment: service })).toEqual([]);
  expect(folder.problems({ environment: { PICKAXE_PORTS: '1', PICKAXE_SERVICE: 'x' } })).toHaveLength(2);
});

test('a setting that is a switch or a time accepts true from the environment', () => {
  expect(folder.load({ environment: { PICKAXE_PAUSE_ON_ACTIVITY: 'true' } }).config.pause.onActivity).toBe(60);
});

test('a secret key in the place of a public one is refused, where that can be seen, and not repeated', () => {
  const [problem, ...others] = folder.problems({ environment: { PICKAXE_PUBLIC_KEY: 'c0ffee1234567890'.repeat(4) } });
  expect(problem).toMatch(/^PICKAXE_PUBLIC_KEY is a text of 64 characters: .* is it perhaps the secret key\?/);
  expect([problem, ...others].join()).not.toMatch(/c0ffee/i);
});

test('commands are not printed, because they may contain tokens', () => {
  folder.write('pickaxe.toml', '[hooks]\nblock = "curl https://hooks.example/s3cret"\n');
  const loaded = folder.load({ file: 'pickaxe.toml' });
  expect(JSON.stringify(loaded.config)).toContain('s3cret');
  expect(configAsToml(loaded) + configAsJson(loaded)).not.toContain('s3cret');
});

test.each([
  ['ftp://host.example/S3CRET/x', '"ftp://host.example/…"'],
  ['http://host.example/S3CRET?a=b', '"http://host.example/…"'],
  ['http://host.example?S3CRET', '"http://host.example/…"'],
  ['host.example:1848/S3CRET?a', '"host.example:1848/…"'],
  ['me:S3CRET@host.example', '"***@host.example"'],
  ['ftp://host.example', '"ftp://host.example"'],
  ['http://me:S3/CRET@host.example/S3CRET', '"http://***@host.example/…"'],
  ['host example', '"host example"'],
])('the path of an invalid node URL is not shown, because a customer’s key may be in it (%s)', (url, shown) => {
  const [problem] = folder.problems({ environment: { PICKAXE_NODE: url } });
  expect(problem).toContain(` is ${shown}: `);
  expect(problem).not.toContain('S3');
});
