import { describe, expect, it } from 'vitest';
import { describeDevices, type Folders, logStart } from '#pickaxe/rig/running-miner.js';
import { linesOf } from './fakes.ts';

const FOLDERS = { current: '/home/u/rig', home: '/home/u', separator: '/' };
const start = { version: '0.1.0', rigName: 'garage', configFiles: [] };
const KEY = 'ab'.repeat(32);

const says = (more: object, folders: Folders = FOLDERS) =>
  linesOf((log) => logStart(log, { ...start, ...more }, folders));

describe('the first lines of a log', () => {
  it('have version, rig, files, network and the whole account, in which one wrong digit can be seen', () => {
    const configFiles = ['/home/u/rig/pickaxe.toml', '/home/u/.config/pickaxe/config.toml'];
    expect(says({ configFiles, account: `k:${KEY}`, network: 'mainnet01' })).toEqual([
      'info pickaxe 0.1.0, rig garage, settings from pickaxe.toml and ~/.config/pickaxe/config.toml',
      `info mines on mainnet01 for k:${KEY}`,
    ]);
  });

  it('have the user and the pools on a pool', () => {
    expect(says({ user: 'NAME.rig1', pools: ['stratum+tcp://a.example:3333'] })).toEqual([
      'info pickaxe 0.1.0, rig garage, no configuration file',
      'info mines as NAME.rig1 at stratum+tcp://a.example:3333',
    ]);
  });

  it('tell what a worker is for, which knows no account', () => {
    expect(says({})[1]).toBe('info mines for the program that gives it jobs');
  });

  it.each([
    ['/etc/pickaxe.toml', FOLDERS, '/etc/pickaxe.toml'],
    ['/home/user2/a.toml', FOLDERS, '/home/user2/a.toml'],
    ['/srv/a.toml', { ...FOLDERS, home: '/' }, '/srv/a.toml'],
    ['/srv/a.toml', { ...FOLDERS, home: undefined }, '/srv/a.toml'],
    ['C:\\Users\\u\\a.toml', { current: 'C:\\rig', home: 'C:\\Users\\u', separator: '\\' }, '~\\a.toml'],
    ['C:\\a.toml', { current: 'C:\\', home: 'C:\\Users\\u', separator: '\\' }, 'a.toml'],
  ])('shorten the path %s', (file, folders, shown) => {
    expect(says({ configFiles: [file] }, folders)[0]).toBe(`info pickaxe 0.1.0, rig garage, settings from ${shown}`);
  });

  it('fit 80 columns with their time and tag, but for what has a key in it', () => {
    const configFiles = ['/home/u/rig/pickaxe.toml'];
    const lines = says({ configFiles, user: 'k:ab12.rig1', pools: ['stratum+tcp://pool.example:3333'] });
    for (const line of lines) expect(`[22:50:54]: miner ${line.slice('info '.length)}`.length).toBeLessThanOrEqual(80);
  });
});

it('devices are named with the threads of a CPU', () => {
  expect(describeDevices([{ name: 'cpu', threads: 1 }, { name: 'gpu0' }])).toBe('devices: cpu (1 thread), gpu0');
  expect(describeDevices([{ name: 'cpu', threads: 8 }])).toBe('devices: cpu (8 threads)');
  expect(describeDevices([])).toBe('devices: none');
});
