/** Tells how far an action on many objects is. */
export type Report = (done: number, of: number, what: string, why?: string) => void;
