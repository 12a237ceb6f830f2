#!/usr/bin/env node
/** `pickaxe`: the command line of this process. */

import { exit, stopWithReader } from '../app/exit.ts';
import { run } from './run.ts';

stopWithReader();
exit(await run(process.argv.slice(2)));
