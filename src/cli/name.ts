/** The name that everything this program says about itself is written with in the source. */
export const OWN_NAME = 'kubectl netsvc-upgrade';

/** Names for which help is rendered at build time. */
export const DISPLAYED_NAMES = [OWN_NAME, 'netsvcctl upgrade'] as const;
