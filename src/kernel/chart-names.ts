/** What the operator's chart is known for: names of its values, data of the profile. */
export interface ChartNames {
  /** Chart repository that the service publishes its charts in; undefined if the person must name one. */
  readonly repository?: string;
  /** Value that leaves the CRDs to the operator: `manageCRDs`. */
  readonly manageCrds: string;
  /** Values that pin the operator's release where they are set. */
  readonly pins: readonly string[];
  /** What newer charts switch on by themselves, and the kind that it brings. */
  readonly additions: readonly { readonly value: string; readonly kind: string }[];
  /** Value without which the target's chart takes the CSI driver away, and what says no to it. */
  readonly csi?: { readonly value: string; readonly off: string };
}
