import { EXIT, EXIT_MEANING, type ExitName } from '../kernel/fault.ts';

const ROWS = (Object.keys(EXIT) as ExitName[]).map((name) => `${EXIT[name]}  ${EXIT_MEANING[name]}`);

/** The last part of every help text. */
export const exitCodesText = ['Exit codes:', ...ROWS].join('\n');

const TWINS = 'NETSVC_UPGRADE_…  a flag not given: --as-group is NETSVC_UPGRADE_AS_GROUP';
const CLUSTER = ['KUBECONFIG  as kubectl reads it', 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY  the way to API server and releases'];
const TERMINAL = 'NO_COLOR, TERM=dumb  no colours';

/** When a command is of use. */
export interface Occasion {
  /** A sentence on when to use it. */
  readonly when: string;
  /** False: asks no cluster. */
  readonly cluster?: boolean;
}

/** A command's description: what it does, when, the environment and the exit codes. */
export function described(text: string, { when, cluster = true }: Occasion): string {
  const environment = ['Environment:', TWINS, ...(cluster ? CLUSTER : []), TERMINAL].join('\n');
  // The source breaks lines where it likes, the help where the screen ends.
  const flowing = text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
  return [flowing, `When: ${when}`, environment, exitCodesText].join('\n\n');
}
