import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { manifestText } from '../../manifest/manifest.ts';
import { targetCrds } from '../install-manifest/index.ts';
import { attempt, listServed, liveOf, type TargetFacts } from '../survey/index.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** The flow-log aggregator and its UI are wanted (§4.3/3). */
    readonly enableFlowLogs?: boolean;
  }
}

const FILE = 'flow-logs.yaml';

/**
 * The resources of the aggregator and its UI that are wanted and not there; existing ones are not changed (§4.3/3).
 * Throws Fault('usage') where the target release has no CRDs for them.
 */
export async function readMissingFlowLogs(
  { cluster }: Pick<Sources, 'cluster'>,
  { profile, goal, options }: Context,
  { documents, url }: Pick<TargetFacts, 'documents' | 'url'>,
): Promise<readonly KubeObject[]> {
  if (!options.enableFlowLogs) return [];
  const { flowLogs = [] } = profile.operator;
  const kinds = targetCrds(documents).flatMap(({ group, kind }) => (group === profile.operatorGroup ? [kind] : []));
  const unknown = flowLogs.filter((kind) => !kinds.includes(kind));
  if (unknown.length > 0) {
    const there = kinds.length > 0 ? `, only ${kinds.toSorted().join(', ')}` : ', nor any other kind of that group';
    const fact = `--enable-flow-logs: the CRDs of ${goal.release} have no ${unknown.join(' and no ')} in ${profile.operatorGroup}${there}`;
    throw new Fault('usage', `${fact} (${url})`, ['leave the flag out']);
  }
  const apiVersion = `${profile.operatorGroup}/v1`;
  const missing: KubeObject[] = [];
  for (const kind of flowLogs) {
    const wanted = { apiVersion, kind, metadata: { name: 'default' } };
    if (!(await liveOf(cluster, wanted))) missing.push(wanted);
  }
  return missing;
}

/** A hosted console that is connected gets flow logs from the aggregator alone, which nothing of this run adds (§4.3/3). */
export async function readConsoleNotes(cluster: ClusterReader, { profile, options }: Context): Promise<readonly string[]> {
  const { hostedConsole, flowLogs = [] } = profile.operator;
  const [aggregator] = flowLogs;
  if (hostedConsole === undefined || aggregator === undefined || options.enableFlowLogs) return [];
  const apiVersion = `${profile.operatorGroup}/v1`;
  const found = await attempt(async () => {
    const [console] = await listServed(cluster, apiVersion, hostedConsole);
    return console && !(await liveOf(cluster, { apiVersion, kind: aggregator, metadata: { name: 'default' } })) ? console : undefined;
  });
  if ('unread' in found || found.value === undefined) return [];
  const name = `${hostedConsole}/${found.value.metadata.name}`;
  return [`${name} connects a hosted console: it gets flow logs only from ${aggregator}, which --enable-flow-logs adds`];
}

/** One plain apply of all that is missing, once the operator runs. */
export function enableFlowLogs(missing: readonly KubeObject[], { workFolder }: Context): readonly Action[] {
  if (missing.length === 0) return [];
  const ref = '§4.3/3';
  const run = { tool: 'kubectl', args: ['apply', '-f', `${workFolder}/${FILE}`] } as const;
  const names = missing.map(({ kind }) => kind).join(' and ');
  return [
    {
      id: 'flow-logs-file',
      title: `write ${FILE}`,
      ref,
      undo: 'full',
      effect: { type: 'write', file: FILE, content: manifestText(missing) },
    },
    { id: 'flow-logs', title: `switch on ${names}`, ref, undo: 'full', effect: { type: 'exec', run, canAsk: true } },
  ];
}
