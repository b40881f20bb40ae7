/** What a policy does with traffic of a direction. */
export interface Rule {
  readonly action?: string;
  readonly [field: string]: unknown;
}

/** True if the rule decides on every packet that comes to it. */
export function isUnconditional({ action: _, metadata: __, ...conditions }: Rule): boolean {
  return Object.values(conditions).every((value) => isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

export type Direction = 'ingress' | 'egress';
