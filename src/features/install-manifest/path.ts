import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { manifestScope, type PlanScope, scopeOf } from '../rights/index.ts';
import type { TargetFacts } from '../survey/index.ts';
import { manifestApply } from './apply.ts';
import { findOwnTarget } from './found-target.ts';
import { gitDocuments, imageDocuments, writtenDocuments } from './own-documents.ts';
import { ownFiles } from './target.ts';
import { apiServerRollout, manifestEnd } from './wait.ts';

/** Installed by a manifest that holds all of it. */
export const manifestPath = {
  apply: manifestApply,
  undo: 'nothing is held on this install path: rollback undoes apply',
  writesAgents: true,
  crds: 'the full manifest holds the CRDs: apply installs them first',
  end: manifestEnd,
  apiWaits: apiServerRollout,
  lags: async () => undefined,
  judgedTarget: findOwnTarget,
  files: ownFiles,
  written: writtenDocuments,
  asked: async (_: unknown, __: unknown, { documents }: TargetFacts) => documents,
  images: async (...of: Parameters<typeof imageDocuments>) => ({ ...(await imageDocuments(...of)), images: [] }),
  inGit: gitDocuments,
  scope: (_: Profile, documents?: readonly KubeObject[]): PlanScope => scopeIn(documents, false),
  roleFlags: ({ path, variant }: Installation) => ['--path', path, ...(variant === undefined ? [] : ['--variant', variant])],
};

/** The same where the service keeps its objects in a key-value store: a part of the manifest says how it is reached. */
export const keyValuePath = {
  ...manifestPath,
  scope: (_: Profile, documents?: readonly KubeObject[]): PlanScope => scopeIn(documents, true),
  roleFlags: ({ path }: Installation) => ['--path', path],
};

function scopeIn(documents: readonly KubeObject[] | undefined, kvstore: boolean): PlanScope {
  return { ...(documents ? scopeOf(documents) : manifestScope()), kvstore, operated: false };
}
