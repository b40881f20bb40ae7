/** Whose generation a component status has to carry in each of its conditions. */
export type StatusGeneration = 'installation' | 'own' | 'none';

/** A component status that the operator writes (`TigeraStatus`), and when it is wanted. */
export interface ComponentStatusName {
  readonly name: string;
  /** `own`: the resource of `kind`, and the status is wanted only where that resource exists. */
  readonly generation: StatusGeneration;
  readonly kind?: string;
  /** Without a resource of this kind the operator cannot make what the status is about: it stays degraded (domain §11.2). */
  readonly needs?: { readonly kind: string; readonly plural: string };
}

/** Where the API of the v3 group is served from. */
export interface OperatorApi {
  /** Kind whose presence means that the API server of the v3 group is wanted. */
  readonly kind: string;
  readonly service: string;
  readonly namespace: string;
  /** Namespace of the API server in old releases; it has to go. */
  readonly oldNamespace: string;
}
