/** `pickaxe config`: the example, the schema, and the check of files. */

import { describe, expect, it } from 'vitest';
import { exampleToml } from '#pickaxe/app/config/print.js';
import { jsonSchema } from '#pickaxe/app/config/schema.js';
import { folder, inNewFolders, pickaxe, project } from '../in-folder.ts';

inNewFolders();

describe('pickaxe config', () => {
  it('prints the example and the schema', async () => {
    expect(await pickaxe(['config', 'example'])).toEqual({
      code: 0,
      stdout: exampleToml().replace(/\n$/, ''),
      stderr: '',
    });
    const { code, stdout } = await pickaxe(['config', 'schema']);
    expect([code, JSON.parse(stdout)]).toEqual([0, JSON.parse(JSON.stringify(jsonSchema()))]);
    expect(stdout).toContain('\n  "');
  });

  it('checks what pickaxe mine would read in the folder', async () => {
    const nothing = await pickaxe(['config', 'check']);
    expect(nothing).toEqual({ code: 0, stdout: 'no configuration file, only defaults: OK', stderr: '' });
    const file = folder.write('pickaxe.toml', project);
    expect(await pickaxe(['config', 'check'])).toMatchObject({ code: 0, stdout: `${file}: OK` });
    const users = folder.write('pickaxe/config.toml', '');
    const both = await pickaxe(['config', 'check']);
    expect(both.stdout.replace(': OK', '').split(', ').sort()).toEqual([file, users].sort());
  });

  it('checks one file alone, of a rig or of a coordinator', async () => {
    const file = folder.write('other.toml', project);
    expect(await pickaxe(['config', 'check', 'other.toml'])).toMatchObject({ code: 0, stdout: `${file}: OK` });
    folder.write('broken.toml', '[cpu]\nthreds = 2\n');
    const { code, stdout, stderr } = await pickaxe(['config', 'check', 'broken.toml']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: broken\.toml:2:1: there is no setting cpu\.threds\. Did you mean threads\?\n/);
  });
});
