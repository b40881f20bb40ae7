import { Fault } from '../../kernel/fault.ts';

/** The refusal of house rule 5: what answers is not the cluster that was confirmed. */
export class OtherCluster extends Fault {
  constructor(expected: string, found: string | undefined, where: string) {
    super('failed', `this is another cluster than the one confirmed: kube-system has UID ${found ?? 'none'}, not ${expected} (${where})`, [
      'check the context and what the server name points to; nothing was written',
    ]);
  }
}
