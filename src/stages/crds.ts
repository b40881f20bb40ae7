import type { InstallPath } from '../core/installation.ts';
import { chartCrds } from './chart-crds.ts';
import { pathStage } from './path-stage.ts';

const IN_MANIFEST = 'the full manifest holds the CRDs: apply installs them first';

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = pathStage<InstallPath>({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  paths: ['operator'],
  also: [chartCrds],
  needless: { manifest: IN_MANIFEST, kvstore: IN_MANIFEST },
  readOnly: false,
  checks: [],
  survey: async (_sources, _context, { path }) => path,
  plan: (path) => ({ skip: `not there yet for an installation by ${path}` }),
});
