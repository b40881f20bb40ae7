import type { CommandName } from '../cli/command-names.ts';
import type { OwnCommand } from '../cli/own-command.ts';
import { Alp } from './alp.ts';
import { Apply } from './apply.ts';
import { Backup } from './backup.ts';
import { Cli } from './cli.ts';
import { Completion } from './completion.ts';
import { Crds } from './crds.ts';
import { Demo } from './demo.ts';
import { Explain } from './explain.ts';
import { Help } from './help.ts';
import { Hep } from './hep.ts';
import { Ownerrefs } from './ownerrefs.ts';
import { Permissions } from './permissions.ts';
import { Plan } from './plan.ts';
import { Policy } from './policy.ts';
import { Preflight } from './preflight.ts';
import { Report } from './report.ts';
import { Run } from './run.ts';
import { Status } from './status.ts';
import { Unlock } from './unlock.ts';
import { Verify } from './verify.ts';
import { Wait } from './wait.ts';

/** Every command, in the order of completion: what oclif loads (`oclif.commands` in package.json). */
export const COMMANDS = {
  preflight: Preflight,
  plan: Plan,
  run: Run,
  status: Status,
  report: Report,
  backup: Backup,
  ownerrefs: Ownerrefs,
  crds: Crds,
  alp: Alp,
  policy: Policy,
  hep: Hep,
  apply: Apply,
  wait: Wait,
  cli: Cli,
  verify: Verify,
  unlock: Unlock,
  permissions: Permissions,
  explain: Explain,
  completion: Completion,
  demo: Demo,
  help: Help,
} satisfies Readonly<Record<CommandName | 'help', typeof OwnCommand>>;
