import type { Installation } from '../core/installation.ts';
import { stage } from '../core/stage.ts';
import { readInstalled } from './installed.ts';

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = stage<Installation>({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  paths: ['chart', 'operator'],
  readOnly: false,
  checks: [],
  survey: readInstalled,
  plan({ path }) {
    if (path === 'manifest' || path === 'kvstore') return { skip: 'the full manifest holds the CRDs: apply installs them first' };
    return { skip: `not there yet for an installation by ${path}` };
  },
});
