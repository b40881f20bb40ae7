import { K } from '../../kernel/kinds.ts';
import type { Sources } from '../../kernel/ports.ts';
import { LeftOut } from '../survey/index.ts';

const DRY_RUN = 'it needs a dry run by the server, for which the server asks for the right to write';

/** The merge of the user's edits and the preview of each object: both end with the server's own answer. */
export const dryRunLeftOut = (): LeftOut => new LeftOut(DRY_RUN);

const leave = (what: string) => async (): Promise<never> => {
  throw new LeftOut(what);
};

const SECRETS = 'it needs Secrets';

/** Sources that ask the cluster for nothing but reading, and for no Secret: what an account without other rights is given. */
export function readingOnly<Ports extends Sources>(ports: Ports): Ports {
  const { cluster, tools } = ports;
  const noSecrets = leave(SECRETS);
  const isSecret = (kind: { readonly group: string; readonly plural: string }) => kind.group === '' && kind.plural === K.Secret.plural;
  return {
    ...ports,
    cluster: {
      ...cluster,
      get: (kind, ...rest) => (isSecret(kind) ? noSecrets() : cluster.get(kind, ...rest)),
      list: (kind, ...rest) => (isSecret(kind) ? noSecrets() : cluster.list(kind, ...rest)),
      dryRunApply: leave(DRY_RUN),
      dryRunPatch: leave(DRY_RUN),
      dryRunCreate: leave(DRY_RUN),
      reviewAccess: leave('what run needs is asked of the account that is to run it'),
    },
    records: { ...ports.records, load: noSecrets },
    tools: {
      ...tools,
      run: (invocation, options) =>
        invocation.args.some((one) => one.startsWith('--dry-run=server')) ? leave(DRY_RUN)() : tools.run(invocation, options),
    },
  };
}
