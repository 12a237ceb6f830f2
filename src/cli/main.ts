#!/usr/bin/env node

import { exit, stopWithReader } from '../app/exit.ts';
import { run } from './run.ts';

stopWithReader();
exit(await run(process.argv.slice(2)));
