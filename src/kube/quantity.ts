const QUANTITY = /^(\d+(?:\.\d+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const FACTORS: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** `250m` as 0.25, with the unit that it is written in; undefined if it is no quantity. */
export function quantityOf(text: string): { readonly value: number; readonly unit?: string } | undefined {
  const [, number, unit] = QUANTITY.exec(text) ?? [];
  if (number === undefined) return undefined;
  return unit === undefined ? { value: Number(number) } : { value: Number(number) * (FACTORS[unit] ?? 1), unit };
}
