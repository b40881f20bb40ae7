interface UpdatedShape {
  readonly spec?: {
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
}

/** Why a new template does not replace every pod of a StatefulSet or DaemonSet by itself; undefined if it does. */
export function heldUpdate(workload: object): string | undefined {
  const { type, rollingUpdate } = (workload as UpdatedShape).spec?.updateStrategy ?? {};
  if (type === 'OnDelete') return 'its update strategy is OnDelete';
  const partition = rollingUpdate?.partition ?? 0;
  return partition > 0 ? `its rolling update stops at partition ${partition}` : undefined;
}
