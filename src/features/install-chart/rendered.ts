import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import { helmTemplate, runHelm } from '../install-manifest/index.ts';
import type { ChartFacts } from './chart-facts.ts';

/** File of the values that helm keeps (0600). */
const VALUES_FILE = 'rendered-values.json';

type Renderable = Pick<ChartFacts, 'trial' | 'upgrade' | 'stored' | 'helm' | 'target'>;

/** The chart as the upgrade renders it, by the server or else by helm with the same values. Throws Fault if neither works. */
export async function renderedChart(sources: Pick<Sources, 'tools' | 'work'>, facts: Renderable): Promise<readonly KubeObject[]> {
  if ('value' in facts.trial && facts.trial.value.type === 'accepted') return facts.trial.value.documents;
  const { upgrade, stored } = facts;
  if (!upgrade || 'unread' in stored) throw unrendered(facts);
  const values = await sources.work.write(VALUES_FILE, JSON.stringify(stored.value.base.values));
  const { tool, args } = helmTemplate(upgrade.name, upgrade.chart);
  const more = [
    ...['--namespace', upgrade.namespace, '--values', values],
    ...(upgrade.valuesFile === undefined ? [] : ['--values', upgrade.valuesFile]),
    ...upgrade.settings.flatMap(({ value, to }) => ['--set', `${value}=${to}`]),
  ];
  const text = await runHelm(sources.tools, { tool, args: [...args, ...more] });
  return parseManifest(text, 'the rendered chart')
    .documents.map(({ object }) => object)
    .filter(isUpgraded);
}

function unrendered({ helm, stored, target }: Renderable): Fault {
  const because = [stored, target, helm].flatMap((one) => ('unread' in one ? [one.unread] : [])).join('; ');
  return new Fault('blocked', `the chart could not be rendered: ${because || 'its upgrade is not known'}`, [
    'see why it cannot be upgraded: kubectl netsvc-upgrade preflight',
  ]);
}

/** Hooks run only at their own occasion: what cleans up at a removal is never part of an upgrade. */
function isUpgraded({ metadata }: KubeObject): boolean {
  const hook = metadata.annotations?.['helm.sh/hook'];
  return hook === undefined || hook.includes('upgrade');
}
