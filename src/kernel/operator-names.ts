/** Whose generation a component status has to carry in each of its conditions. */
type StatusGeneration = 'installation' | 'own' | 'none';

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

/** What the operator's chart is known for: names of its values, data of the profile. */
export interface ChartNames {
  /** Chart repository that the service publishes its charts in; undefined if the user must name one. */
  readonly repository?: string;
  /** Value that leaves the CRDs to the operator: `manageCRDs`. */
  readonly manageCrds: string;
  /** Values that pin the operator's release where they are set. */
  readonly pins: readonly string[];
  /** What newer charts switch on by themselves, and the kind that it adds. */
  readonly additions: readonly { readonly value: string; readonly kind: string }[];
  /** Value without which the target's chart takes the CSI driver away, and what says no to it. */
  readonly csi?: { readonly value: string; readonly off: string };
}
