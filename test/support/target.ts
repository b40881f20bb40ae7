import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';

/** What tests upgrade to: the releases that the profiles upgrade to unless another is asked for. */
export const CALICO_TARGET = calico.defaultRelease;
export const NETSVC_TARGET = netsvc.defaultRelease;
