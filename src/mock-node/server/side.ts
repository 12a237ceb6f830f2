/** Which of a node's two servers: for programs, for other nodes, or both on one port. */
export type Side = 'service' | 'p2p' | 'both';
