/** What the tests use of the package `chainweb`, which has no types of its own. */
declare module 'chainweb' {
  interface Header {
    readonly height: number;
    readonly hash: string;
    readonly parent: string;
  }

  interface Transaction {
    readonly transaction: { readonly hash: string; readonly sigs: readonly unknown[] };
    readonly output: { readonly reqKey: string };
  }

  interface Cut {
    readonly instance: string;
    readonly hashes: Readonly<Record<string, { readonly height: number; readonly hash: string }>>;
  }

  interface Finders<One, Several = One> {
    height(chain: number, height: number, network: string, host: string): Promise<Several>;
    blockHash(chain: number, hash: string, network: string, host: string): Promise<One>;
    recent(chain: number, depth: number, count: number, network: string, host: string): Promise<readonly Header[]>;
  }

  const chainweb: {
    readonly cut: {
      current(network: string, host: string): Promise<Cut>;
      peers(network: string, host: string): Promise<readonly unknown[]>;
    };
    readonly header: Finders<Header>;
    readonly block: Finders<{ readonly header: Header; readonly payload: { readonly payloadHash: string } }>;
    readonly transaction: Finders<readonly Transaction[]>;
    readonly event: Finders<readonly unknown[]>;
  };
  export default chainweb;
}
