import type { Context } from '../kernel/context.ts';
import { EXIT, type ExitName } from '../kernel/fault.ts';
import { type DocumentHead, OUTPUT_VERSION } from './documents.ts';

export function documentHead(context: Context, exit: ExitName, next: string): DocumentHead {
  const cluster = { uid: context.clusterUid, server: context.server, context: context.contextName };
  const code = { code: exit, number: EXIT[exit] };
  return { apiVersion: OUTPUT_VERSION, cluster, profile: context.profile.name, target: context.options.release, exit: code, next };
}
