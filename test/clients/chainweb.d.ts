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

  interface Event {
    readonly name: string;
    readonly params: readonly unknown[];
    readonly height: number;
  }

  interface Cut {
    readonly instance: string;
    readonly hashes: Readonly<Record<string, { readonly height: number; readonly hash: string }>>;
  }

  /** Several of what is found, or the items of several lists. */
  type Item<One> = One extends readonly (infer Each)[] ? Each : One;

  interface Stream {
    close(): void;
  }

  interface Finders<One, Several = One> {
    height(chain: number, height: number, network: string, host: string): Promise<Several>;
    blockHash(chain: number, hash: string, network: string, host: string): Promise<One>;
    /** Both heights belong to the range. */
    range(chain: number, start: number, end: number, network: string, host: string): Promise<readonly Item<One>[]>;
    recent(chain: number, depth: number, count: number, network: string, host: string): Promise<readonly Item<One>[]>;
    /** Tells of what is new on some chains once it has a depth. */
    stream(
      depth: number,
      chains: readonly number[],
      take: (found: Item<One>) => void,
      network: string,
      host: string,
    ): Stream;
  }

  const chainweb: {
    readonly cut: {
      current(network: string, host: string): Promise<Cut>;
      peers(network: string, host: string): Promise<readonly unknown[]>;
    };
    readonly header: Finders<Header>;
    readonly block: Finders<{ readonly header: Header; readonly payload: { readonly payloadHash: string } }>;
    readonly transaction: Finders<readonly Transaction[]>;
    readonly event: Finders<readonly Event[]>;
    readonly internal: {
      /** In ascending order. */
      branch(
        chain: number,
        upper: readonly string[],
        lower: readonly string[],
        minHeight: number | null,
        maxHeight: number | null,
        count: number | null,
        format: 'json',
        network: string,
        host: string,
      ): Promise<readonly Header[]>;
    };
  };
  export default chainweb;
}
