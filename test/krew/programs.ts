import { join } from 'node:path';
import { planGo } from '../control-plane/build-plan.ts';
import { builtHere } from '../control-plane/go-build.ts';

/** The real krew, and the check that krew's own index runs on every change. */
export interface KrewPrograms {
  /** Holds `kubectl-krew`, so that `kubectl krew` works with this folder on PATH. */
  readonly folder: string;
  readonly krew: string;
  readonly validator: string;
}

const PACKAGES = { 'kubectl-krew': 'sigs.k8s.io/krew/cmd/krew', 'validate-krew-manifest': 'sigs.k8s.io/krew/cmd/validate-krew-manifest' };

/** Builds what the cache lacks from the pinned Go module beside this file (about a minute, once). Throws with the reason if that cannot be done. */
export async function resolveKrew(): Promise<KrewPrograms> {
  const folder = await builtHere(import.meta.dirname, (_goMod, ...rest) => planGo(PACKAGES, '-s -w', ...rest));
  return { folder, krew: join(folder, 'kubectl-krew'), validator: join(folder, 'validate-krew-manifest') };
}
