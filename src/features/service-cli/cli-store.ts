import { type Check, notApplicable, ok } from '../../kernel/check.ts';
import { failed, PROGRAM } from '../survey/index.ts';

/** Why it is not known that a CLI reaches the installation's store; `guid` where the user may say that it does. */
export interface StoreDoubt {
  readonly because: string;
  readonly guid?: string;
}

/** The service's CLI as checks see it: its file and how its key-value store was proved, or why none may be called. */
export type JudgedCli =
  | { readonly program: string; readonly provedBy?: string; readonly doubt?: StoreDoubt }
  | { readonly missing: string; readonly doubt?: StoreDoubt };

export interface CliStoreJudged {
  readonly cli: JudgedCli;
  readonly needsCli: boolean;
}

/** A CLI that is led to another cluster's store would delete that cluster's endpoints and policies. */
export const storeIsOurs: Check<CliStoreJudged> = {
  id: 'NS-725',
  title: 'CLI reaches this cluster’s key-value store',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.5/5',
  judge({ cli, needsCli }, { profile }) {
    if (!needsCli) return notApplicable('there is nothing to do with the CLI');
    if (!cli.doubt) {
      if ('missing' in cli) return notApplicable('there is no CLI to be called');
      return cli.provedBy === undefined ? notApplicable('the data is in the API') : ok(cli.provedBy);
    }
    const { because, guid } = cli.doubt;
    const { program } = profile.cli;
    if (guid === undefined) return failed(because, ANOTHER, { next: NEXT });
    return failed(because, `${UNTOLD} ${program} get clusterinformation default -o yaml.`, { next: NEXT, evidence: [{ text: guid }] });
  },
};

const NEXT = `${PROGRAM} cli --cli-config FILE`;
const ANOTHER = 'Let --cli-config write a configuration file for this cluster, and name that file in this command too.';
const UNTOLD =
  'Name the installation’s own endpoints in the CLI’s configuration file. If this is the cluster’s store, waive the check by its GUID. Read the GUID on a node of the cluster:';
