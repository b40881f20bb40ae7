import { notApplicable, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { accessQuestion, accessText } from '../../kernel/ports.ts';
import { failIfAny, type OwnerRights, type PreflightCheck } from '../survey/index.ts';
import type { OwnersCheck } from './owner-facts.ts';

const RULE = { category: 'follow-up', severity: 'error', ref: '§4.8/1' } as const;

/** Before anything is removed that this account could not restore. */
export const mayRestore: OwnersCheck = {
  id: 'NS-754',
  title: 'rights to restore owner references',
  ...RULE,
  judge: ({ rights }, context) => verdictOf(rights, context),
};

export const ownerRightsChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-754',
    title: 'rights to restore owner references',
    ...RULE,
    judge: ({ owners }, context) => verdictOf(read(owners).rights, context),
  },
];

function verdictOf(rights: OwnerRights | undefined, { options }: Context): Verdict {
  if (rights === undefined) return notApplicable('this upgrade changes no UID');
  if (options.ownerrefs === 'never') return notApplicable('owner references are not changed (--ownerrefs=never)');
  const { denied, enforced, isEnforced } = rights;
  const missing = isEnforced === false ? denied : [...denied, ...enforced];
  const isCertain = denied.length > 0 || isEnforced === true;
  const [first] = missing.map(accessQuestion);
  return failIfAny(
    missing.map((request) => ({ text: accessText(request) })),
    'this account may remove and restore these references',
    (names) => ({
      because: `${counted(missing.length, 'permission')} missing to remove and restore ownerReferences: ${names}`,
      hint: isCertain
        ? 'Grant them before the upgrade: what is removed and cannot be restored stays off.'
        : 'Needed only where the API server runs the admission plugin OwnerReferencesPermissionEnforcement, which could not be found out. Grant them, or ask who runs the API server.',
      next: first ?? '',
      ...(isCertain ? {} : { severity: 'warning' as const }),
    }),
  );
}
