import type { Reading } from '../../kernel/check.ts';
import { Fault } from '../../kernel/fault.ts';
import { textAt } from '../../kernel/json-map.ts';
import type { Tools } from '../../kernel/ports.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import { type HelmAnswer, type HelmUpgrade, helmUpgrade, runHelm } from '../install-manifest/index.ts';
import type { Trial } from './chart-facts.ts';
import { reading } from './source.ts';

/** What the server cannot evaluate before it has the new CRDs. */
const NEEDS_CRDS = /no matches for kind|ensure CRDs are installed first|unknown field|field not declared in schema|no kind "/i;

/** Has the upgrade rendered and validated by the server. While CRDs are still to come, what they explain is no refusal. */
export async function tryUpgrade(tools: Tools, upgrade: HelmUpgrade, crdsPending: boolean, answer: HelmAnswer): Promise<Reading<Trial>> {
  const trial = await reading(async () => {
    const printed = parsed(await runHelm(tools, helmUpgrade(upgrade, true), answer));
    const manifest = parseManifest(textAt(printed, 'manifest') ?? '', 'the rendered chart');
    return { type: 'accepted', documents: manifest.documents.map(({ object }) => object) } as const;
  });
  if ('value' in trial) return trial;
  if (crdsPending && NEEDS_CRDS.test(trial.unread)) {
    return {
      value: { type: 'untold', because: 'the server cannot say before it has the new CRDs; it is asked again right before the upgrade' },
    };
  }
  return { value: { type: 'refused', because: trial.unread } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('failed', `helm does not print the upgrade as JSON: ${text.trim().slice(0, 100)}`, [
      'use helm 3.14 or newer, without plugins that change its output',
    ]);
  }
}
