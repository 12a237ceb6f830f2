/**
 * pickaxe's version, and facts about the system from Node.js's diagnostic report. Every hashing thread loads this file.
 */

import { readFileSync } from 'node:fs';

interface SystemReport {
  readonly header: {
    /** The version of glibc, such as `2.36`; absent when the C library is another one, such as Alpine's musl. */
    readonly glibcVersionRuntime?: string;
  };
  /** The limits that `ulimit` shows; absent on Windows. */
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
}

/** Excludes the report's network section, which can wait seconds for a name server. */
export function systemReport(): SystemReport {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  try {
    return report.getReport() as SystemReport;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export { version };
