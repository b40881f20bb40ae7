import type { Context } from '../../kernel/context.ts';
import type { KeptItem, Records } from '../../kernel/run-record.ts';
import { keptElsewhere } from '../survey/index.ts';
import type { HepFacts } from './facts.ts';
import type { BackFromElsewhere } from './hep-facts.ts';
import { idOf, labelsOf } from './kept.ts';
import { endpointText, formerSetting, stillThere, toRecreate } from './undo.ts';
import type { KeptOfMigration } from './well-formed.ts';

/** Of what was kept, what another machine than this did. */
export async function migratedElsewhere(
  records: Pick<Records, 'keptWith' | 'keptHere'>,
  kept: readonly KeptItem[],
): Promise<readonly KeptItem[]> {
  const elsewhere = new Set((await keptElsewhere(records, 'hep')).map(({ id }) => id));
  return kept.filter(({ id }) => elsewhere.has(id));
}

/** What the undo would do by what another machine kept. */
export function backFromElsewhere(facts: HepFacts, context: Context): readonly BackFromElsewhere[] {
  const contents = facts.keptElsewhere.map(({ content }) => content as KeptOfMigration);
  const endpoints = new Set(contents.flatMap((one) => (one.endpoints ?? []).map(({ metadata }) => metadata.name)));
  const labels = new Set(contents.flatMap((one) => labelsOf(one).map(idOf)));
  const setting = contents.some(({ configuration }) => configuration !== undefined) && formerSetting(facts, context);
  const nodes = new Map(facts.nodes.map(({ metadata }) => [metadata.uid, metadata.name]));
  return [
    ...toRecreate(facts, context)
      .filter(({ endpoint }) => endpoints.has(endpoint.metadata.name))
      .map(({ endpoint }) => ({
        subject: `HostEndpoint/${endpoint.metadata.name}`,
        effect: `created again: ${endpointText(endpoint, context)}`,
      })),
    ...(setting
      ? [{ subject: `${context.profile.controllersConfiguration.kind}/${setting.name}`, effect: 'automatic host endpoints disabled' }]
      : []),
    ...stillThere(facts, context)
      .filter((label) => labels.has(idOf(label)))
      .map(({ uid, key, value }) => ({ subject: `Node/${nodes.get(uid)} ${key}`, effect: `label ${key}=${value} removed` })),
  ];
}
