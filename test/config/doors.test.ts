/** What comes from outside without being meant for pickaxe, and what must not be shown. */

import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigError } from '#pickaxe/config/errors.js';
import { findFile } from '#pickaxe/config/files.js';
import { configAsJson, configAsToml } from '#pickaxe/config/print.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

test('a place that cannot be looked at is an error that says what to do', () => {
  const file = folder.write('no-folder', '');
  expect(() => findFile(`${file}/config`)).toThrow(ConfigError);
  expect(() => findFile(`${file}/config`)).toThrow(/set HOME or XDG_CONFIG_HOME/);
});

test('what Kubernetes tells of a service called pickaxe is no setting, and what looks alike is an error', () => {
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

test('a switch that is also a time takes true from the environment', () => {
  expect(folder.load({ environment: { PICKAXE_PAUSE_ON_ACTIVITY: 'true' } }).config.pause.onActivity).toBe(60);
});

test('commands are not shown: they have tokens in them', () => {
  folder.write('pickaxe.toml', '[hooks]\nblock = "curl https://hooks.example/s3cret"\n');
  const loaded = folder.load({ file: 'pickaxe.toml' });
  expect(JSON.stringify(loaded.config)).toContain('s3cret');
  expect(configAsToml(loaded) + configAsJson(loaded)).not.toContain('s3cret');
});

test.each([
  ['ftp://host.example/S3CRET/x', '"ftp://host.example/…"'],
  ['http://host.example/S3CRET?a=b', '"http://host.example/…"'],
  ['http://host.example?S3CRET', '"http://host.example/…"'],
  ['host.example:1848/S3CRET', '"host.example:1848/…"'],
  ['ftp://host.example', '"ftp://host.example"'],
  ['http://me:S3/CRET@host.example/S3CRET', '"http://***@host.example/…"'],
  ['host example', '"host example"'],
])('the path of a node URL that is none is not shown: a customer’s key may stand in it (%s)', (url, shown) => {
  const [problem] = folder.problems({ environment: { PICKAXE_NODE: url } });
  expect(problem).toContain(` is ${shown}. A node URL has a host and perhaps a path`);
});
