/**
 * How an API server's schema identifies the items of a list. Either by these fields together (one that may be absent has its default), each
 * scalar once, or the list is one value.
 */
export type SchemaRule = { readonly keys: readonly string[]; readonly defaults: Readonly<Record<string, unknown>> } | 'set' | 'atomic';

/** Rules that outlive the server's answer: by `apiVersion kind`, then by the path of the list. */
export type KeptRules = Readonly<Record<string, Readonly<Record<string, SchemaRule>>>>;
