/** What says of itself whether it works: an APIService, a component's status. */
export interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
}

/** False where it says nothing yet, or is not there; throws with what it says where it is not available. */
export function isAvailable(live: Conditioned | undefined): boolean {
  const available = live?.status?.conditions?.find(({ type }) => type === 'Available');
  if (available && available.status !== 'True') throw new Error(available.message ?? 'not available');
  return available?.status === 'True';
}
