/** What stands in plans, reports and records in place of a Secret's value. */
export const HIDDEN = '(hidden)';
