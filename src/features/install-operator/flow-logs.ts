import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { manifestText } from '../../manifest/manifest.ts';
import { targetCrds } from '../install-manifest/index.ts';
import { liveOf, type TargetFacts } from '../survey/index.ts';

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
  { profile, options }: Context,
  { documents, url }: Pick<TargetFacts, 'documents' | 'url'>,
): Promise<readonly KubeObject[]> {
  if (!options.enableFlowLogs) return [];
  const { flowLogs = [] } = profile.operator;
  const defined = targetCrds(documents).filter(({ group }) => group === profile.operatorGroup);
  const unknown = flowLogs.filter((kind) => !defined.some((crd) => crd.kind === kind));
  if (flowLogs.length === 0 || unknown.length > 0) {
    throw new Fault('usage', `--enable-flow-logs: ${options.release} has no ${unknown.join(', ') || 'flow logs'} (${url})`, [
      'leave the flag out',
    ]);
  }
  const apiVersion = `${profile.operatorGroup}/v1`;
  const missing: KubeObject[] = [];
  for (const kind of flowLogs) {
    const wanted = { apiVersion, kind, metadata: { name: 'default' } };
    if (!(await liveOf(cluster, wanted))) missing.push(wanted);
  }
  return missing;
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
    { id: 'flow-logs', title: `switch on ${names}`, ref, undo: 'full', effect: { type: 'exec', run } },
  ];
}
