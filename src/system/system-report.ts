/** What Node's diagnostic report says of the system. A leaf. */

export interface SystemReport {
  readonly header: {
    /** Like `2.36`; left out where the C library is another one, like Alpine's musl. */
    readonly glibcVersionRuntime?: string;
  };
  /** What `ulimit` shows; left out on Windows. */
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
}

/** Its part about the network is left out: that can wait seconds for a name server. */
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
