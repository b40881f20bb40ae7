import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isOlder } from '../../kernel/release.ts';

/** The target is a release whose operator this program does not know the end of: undefined where it does, or no operator is used. */
export function unknownEnd(
  { path }: Pick<Installation, 'path'>,
  { profile, options }: Pick<Context, 'profile' | 'options'>,
): Fault | undefined {
  const since = profile.operator.end?.since;
  if ((path !== 'operator' && path !== 'chart') || since === undefined || !isOlder(options.release, since)) return undefined;
  return new Fault(
    'blocked',
    `${options.release} is no target for an installation by ${path}: its operator ends an upgrade by other signs`,
    [`choose ${since} or later with --release`],
  );
}
